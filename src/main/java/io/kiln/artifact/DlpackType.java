// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.base.DType;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Element types as {@code DLDataType} of dlpack.h has them.
 *
 * @param code kind of number: 0 signed, 1 unsigned, 2 float
 * @param bits of an element; a bool has 1
 */
public record DlpackType(int code, int bits) {
    private static final int SIGNED = 0;
    private static final int UNSIGNED = 1;
    private static final int FLOAT = 2;
    private static final int BITS = 8;
    private static final Pattern TEXT = Pattern.compile("(int|uint|float)(4|8|16|32|64)");

    /** The type of an element. */
    public static DlpackType of(DType dtype) {
        return switch (dtype) {
            case INT8, INT16, INT32, INT64 -> new DlpackType(SIGNED, dtype.bytes() * BITS);
            case UINT8, UINT32, UINT64 -> new DlpackType(UNSIGNED, dtype.bytes() * BITS);
            case BOOL -> new DlpackType(UNSIGNED, 1);
            case FLOAT32 -> new DlpackType(FLOAT, dtype.bytes() * BITS);
        };
    }

    /** Reads a type as graphs have it, such as {@code int8} or {@code bool}; empty for vectors and for text that is not a type. */
    public static Optional<DlpackType> parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (text.equals("bool")) {
            return Optional.of(new DlpackType(UNSIGNED, 1));
        }
        return matcher.matches()
                ? Optional.of(new DlpackType(
                        List.of("int", "uint", "float").indexOf(matcher.group(1)), Integer.parseInt(matcher.group(2))))
                : Optional.empty();
    }

    /** Kiln's element type; empty if it has none that corresponds. */
    public Optional<DType> dtype() {
        return Arrays.stream(DType.values())
                .filter(type -> of(type).equals(this))
                .findFirst();
    }

    /** The initializer of a {@code DLDataType} in C. */
    public String text() {
        String name = code == SIGNED ? "kDLInt" : code == UNSIGNED ? "kDLUInt" : "kDLFloat";
        return "{" + name + ", " + bits + ", 1}";
    }

    /** The name in graphs, such as {@code int8} or {@code bool}. */
    public String name() {
        String kind = code == SIGNED ? "int" : code == UNSIGNED ? "uint" : "float";
        return code == UNSIGNED && bits == 1 ? "bool" : kind + bits;
    }
}
