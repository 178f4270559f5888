// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.DType;
import java.util.Collections;
import java.util.List;

/**
 * A scalar function that C code calls: a libm function, or a micro-kernel with a portable C twin.
 *
 * @param name C name
 * @param parameters types of the arguments
 * @param result type of the value
 * @param header system header that declares it; empty if {@code definition} is given
 * @param definition C text of a {@code static inline} definition, printed once per file that uses it; may be empty
 * @param uses intrinsics that the definition calls, and those that they call
 */
public record Intrinsic(
        String name, List<DType> parameters, DType result, String header, String definition, List<Intrinsic> uses) {
    /** {@code expf} of libm; float models only. */
    public static final Intrinsic EXPF = libm("expf", 1);

    /** {@code roundf} of libm, halves away from zero; float models only. */
    public static final Intrinsic ROUNDF = libm("roundf", 1);

    /**
     * A function whose definition is a file.
     *
     * @param file path under {@code kernels/} without its suffix; its last part is the C name
     */
    public static Intrinsic inFile(String file, List<DType> parameters, DType result, Intrinsic... uses) {
        String text = KernelSheet.file(file);
        return new Intrinsic(KernelSheet.name(file), parameters, result, "", text, List.of(uses));
    }

    public Intrinsic {
        parameters = List.copyOf(parameters);
        uses = List.copyOf(uses);
    }

    /** A function of libm over float32; float models only. */
    public static Intrinsic libm(String name, int arity) {
        return new Intrinsic(name, Collections.nCopies(arity, DType.FLOAT32), DType.FLOAT32, "math.h", "", List.of());
    }
}
