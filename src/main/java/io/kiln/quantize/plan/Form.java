// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.ir.Quantization;
import java.util.Optional;

/**
 * How an operator quantizes its result.
 *
 * @param kind what decides the scale
 * @param fixed the quantization that the operator's arithmetic prescribes
 */
record Form(Kind kind, Optional<Quantization> fixed) {
    /** What decides the scale of a result. */
    enum Kind {
        /** The range of the result. */
        FREE,
        /** The data, whose scale the result shares. */
        SAME,
        /** The operator itself. */
        FIXED
    }

    static final Form FREE = new Form(Kind.FREE, Optional.empty());
    static final Form SAME = new Form(Kind.SAME, Optional.empty());

    static Form fixed(float scale, int zeroPoint) {
        return new Form(Kind.FIXED, Optional.of(new Quantization(scale, zeroPoint)));
    }
}
