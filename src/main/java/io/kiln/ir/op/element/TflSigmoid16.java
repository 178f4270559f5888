// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;
import java.util.Map;

/**
 * The logistic function or hyperbolic tangent of int16 in TensorFlow Lite's fixed point (integer_ops/logistic.h and
 * tanh.h): linear interpolation in a table of the logistic function at multiples of 1/24; see {@link
 * io.kiln.ir.arith.TflSigmoid}. Argument: data, int16 with zero point 0. The result's scale is 1/32768.
 *
 * @param kind the function
 * @param multiplier 1 to 32767; {@code (data * multiplier) / 2^shift}, rounded, is the argument in steps of 1/12288
 * @param shift 0 to 31
 */
public record TflSigmoid16(Kind kind, int multiplier, int shift) implements Op {
    public static final Map<Kind, Signature<TflSigmoid16>> SIGNATURES =
            Signature.ofEach(Kind.class, TflSigmoid16::signature);

    private static Signature<TflSigmoid16> signature(Kind kind) {
        return Signature.of(TflSigmoid16.class, kind.relay)
                .data("data", DType.INT16)
                .attributes(
                        Attribute.whole("multiplier", TflSigmoid16::multiplier, 1, Short.MAX_VALUE),
                        Attribute.whole("shift", TflSigmoid16::shift, 0, Integer.SIZE - 1),
                        (multiplier, shift) -> new TflSigmoid16(kind, multiplier, shift))
                .traits(Trait.TAKES_CLIP, Trait.ELEMENTWISE)
                .same();
    }

    @Override
    public Card<TflSigmoid16> card() {
        return SIGNATURES.get(kind).of(this);
    }

    /** The functions. */
    public enum Kind {
        LOGISTIC("tfl.logistic16"),
        TANH("tfl.tanh16");

        private final String relay;

        Kind(String relay) {
            this.relay = relay;
        }
    }

    public TflSigmoid16 {
        Check.that(
                multiplier > 0 && multiplier <= Short.MAX_VALUE,
                kind.relay + " takes a multiplier from 1 to 32767, not " + multiplier);
        Check.that(shift >= 0 && shift < Integer.SIZE, kind.relay + " takes a shift from 0 to 31, not " + shift);
    }
}
