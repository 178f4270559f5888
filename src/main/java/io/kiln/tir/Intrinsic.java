// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.DType;
import java.util.List;

/**
 * A scalar function that C code calls: a libm function, or a micro-kernel with a portable C twin.
 *
 * @param name C name
 * @param parameters types of the arguments
 * @param result type of the value
 * @param header system header that declares it; empty if {@code definition} is given
 * @param definition C text of a {@code static inline} definition, printed once per file that uses it; may be empty
 * @param uses intrinsics that the definition calls; they use no others
 */
public record Intrinsic(
        String name, List<DType> parameters, DType result, String header, String definition, List<Intrinsic> uses) {
    /** {@code expf} of libm; float models only. */
    public static final Intrinsic EXPF =
            new Intrinsic("expf", List.of(DType.FLOAT32), DType.FLOAT32, "math.h", "", List.of());

    /** {@code roundf} of libm, halves away from zero; float models only. */
    public static final Intrinsic ROUNDF =
            new Intrinsic("roundf", List.of(DType.FLOAT32), DType.FLOAT32, "math.h", "", List.of());

    public Intrinsic {
        parameters = List.copyOf(parameters);
        uses = List.copyOf(uses);
    }
}
