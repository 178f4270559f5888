// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.llvm;

import io.kiln.base.DType;
import io.kiln.codegen.PackedApi;
import io.kiln.codegen.c.CalledC;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Prints calls in LLVM IR, and the declarations that they need. */
final class IrCalls {
    private final int bits;
    private final PackedApi packed;
    private final Set<String> defined;
    private final Map<String, String> declarations = new TreeMap<>();

    /**
     * @param bits width of a general register
     * @param packed functions that are called by way of C
     * @param defined names of the functions that the module defines
     */
    IrCalls(int bits, PackedApi packed, Set<String> defined) {
        this.bits = bits;
        this.packed = packed;
        this.defined = defined;
    }

    /** A scalar handed over. */
    String argument(DType dtype, String value) {
        return IrType.parameter(dtype, bits) + " " + value;
    }

    /** A pointer handed over. */
    static String pointer(String address) {
        return "ptr noundef " + address;
    }

    String intrinsic(Intrinsic intrinsic, List<String> arguments) {
        String parameters = intrinsic.parameters().stream()
                .map(p -> IrType.parameter(p, bits))
                .collect(Collectors.joining(", "));
        String type = IrType.ofScalar(intrinsic.result());
        String name = CalledC.name(intrinsic);
        declarations.put(name, "declare " + type + " @" + name + "(" + parameters + ")");
        return type + " @" + name + "(" + String.join(", ", arguments) + ")";
    }

    String kernel(Kernel kernel, List<String> arguments) {
        String type = kernel.fails() ? "i32" : "void";
        declare(type, kernel.name(), kernel.pointers().size(), kernel.scalars());
        return type + " @" + kernel.name() + "(" + String.join(", ", arguments) + ")";
    }

    /** A call of a function of the loop IR. */
    String function(String function, int pointers, List<String> arguments) {
        String name = packed.find(function).isPresent() ? CalledC.caller(function) : function;
        if (!defined.contains(name)) {
            declare("i32", name, pointers, Collections.nCopies(arguments.size() - pointers, DType.INT32));
        }
        return "i32 @" + name + "(" + String.join(", ", arguments) + ")";
    }

    private void declare(String type, String name, int pointers, List<DType> scalars) {
        String parameters = Stream.concat(
                        Collections.nCopies(pointers, "ptr noundef").stream(),
                        scalars.stream().map(scalar -> IrType.parameter(scalar, bits)))
                .collect(Collectors.joining(", "));
        declarations.put(name, "declare " + type + " @" + name + "(" + parameters + ")");
    }

    /** Copies bytes; {@code memcpy} of the C library unless the size is small. */
    void copies() {
        declarations.put("llvm.memcpy", "declare void @" + copy() + "(ptr, ptr, i" + bits + ", i1)");
    }

    /** The name of the intrinsic function that copies bytes. */
    String copy() {
        return "llvm.memcpy.p0.p0.i" + bits;
    }

    int bits() {
        return bits;
    }

    /** All declarations, by name. */
    String text() {
        return declarations.values().stream().map(line -> line + "\n").collect(Collectors.joining());
    }
}
