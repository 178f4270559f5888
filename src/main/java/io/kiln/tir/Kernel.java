// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.DType;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A micro-kernel: a C function over pointers and scalars, printed once into each file that calls it. If it is written
 * for one instruction set (inline assembly, vendor intrinsics), the same definition has a portable twin selected by the
 * preprocessor, so that the program runs on any machine and under sanitizers.
 *
 * @param name C name; two kernels of one name have one definition
 * @param pointers types of the pointer arguments, which come first
 * @param scalars types of the scalar arguments
 * @param headers system headers that the definition needs beside stdint.h
 * @param definition C text of the {@code static} function, with its comment
 * @param uses intrinsics that the definition calls
 * @param fails whether it returns an error, 0 for none, which ends the function that calls it
 */
public record Kernel(
        String name,
        List<Pointer> pointers,
        List<DType> scalars,
        List<String> headers,
        String definition,
        List<Intrinsic> uses,
        boolean fails) {
    /** A micro-kernel that returns nothing. */
    public Kernel(
            String name,
            List<Pointer> pointers,
            List<DType> scalars,
            List<String> headers,
            String definition,
            List<Intrinsic> uses) {
        this(name, pointers, scalars, headers, definition, uses, false);
    }

    /**
     * A micro-kernel of a sheet.
     *
     * @param scalars number of scalar arguments, each of int32
     */
    public static Kernel of(
            String name, List<Pointer> pointers, int scalars, KernelSheet.Template sheet, Intrinsic... uses) {
        return of(name, pointers, scalars, KernelSheet.text(sheet), uses);
    }

    /** The same with a definition that is printed. */
    public static Kernel of(String name, List<Pointer> pointers, int scalars, String definition, Intrinsic... uses) {
        List<DType> types = Collections.nCopies(scalars, DType.INT32);
        return new Kernel(name, pointers, types, List.of(), definition, List.of(uses));
    }

    /**
     * A micro-kernel whose definition is a file without parameters.
     *
     * @param file path under {@code kernels/} without its suffix; its last part is the C name
     */
    public static Kernel inFile(String file, List<Pointer> pointers, List<DType> scalars, Intrinsic... uses) {
        String definition = KernelSheet.file(file);
        return new Kernel(KernelSheet.name(file), pointers, scalars, List.of(), definition, List.of(uses));
    }

    public Kernel defined(String other) {
        return new Kernel(name, pointers, scalars, headers, other, uses, fails);
    }

    public Kernel {
        pointers = List.copyOf(pointers);
        scalars = List.copyOf(scalars);
        headers = List.copyOf(headers);
        uses = List.copyOf(uses);
    }

    /** At least the bytes of its assembly, repetitions counted; 0 if it is C. */
    public long codeBytes() {
        return CodeBytes.ofAssembly(this);
    }

    /**
     * A pointer argument.
     *
     * @param dtype type of the elements
     * @param written whether the kernel writes through it
     */
    public record Pointer(DType dtype, boolean written) {
        /** Pointers of these types, of which the kernel writes through the last. */
        public static List<Pointer> lastWritten(DType... types) {
            int last = types.length - 1;
            return IntStream.rangeClosed(0, last)
                    .mapToObj(i -> new Pointer(types[i], i == last))
                    .toList();
        }

        public static Pointer in(DType dtype) {
            return new Pointer(dtype, false);
        }

        public static Pointer out(DType dtype) {
            return new Pointer(dtype, true);
        }
    }
}
