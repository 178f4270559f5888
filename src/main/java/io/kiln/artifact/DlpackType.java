// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.base.DType;
import java.util.Arrays;
import java.util.Optional;

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

    /** The type of an element. */
    public static DlpackType of(DType dtype) {
        return switch (dtype) {
            case INT8, INT16, INT32, INT64 -> new DlpackType(SIGNED, dtype.bytes() * BITS);
            case UINT8, UINT32, UINT64 -> new DlpackType(UNSIGNED, dtype.bytes() * BITS);
            case BOOL -> new DlpackType(UNSIGNED, 1);
            case FLOAT32 -> new DlpackType(FLOAT, dtype.bytes() * BITS);
        };
    }

    /** The type that has this one; empty if Kiln has none. */
    public Optional<DType> dtype() {
        return Arrays.stream(DType.values())
                .filter(type -> of(type).equals(this))
                .findFirst();
    }

    /** As C initialises it. */
    public String text() {
        String name = code == SIGNED ? "kDLInt" : code == UNSIGNED ? "kDLUInt" : "kDLFloat";
        return "{" + name + ", " + bits + ", 1}";
    }
}
