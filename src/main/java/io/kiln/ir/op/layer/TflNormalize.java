// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.arith.TflNormalization;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.TensorType;
import java.util.Locale;
import java.util.Map;

/**
 * TensorFlow Lite's fixed-point normalizations of int8 along the last axis, see {@link io.kiln.ir.arith.TflNormalization}.
 *
 * <p>Arguments: data, input scale, input zero point. The kind determines the quantization of the output.
 *
 * @param kind the normalization
 */
public record TflNormalize(Kind kind) implements Op {
    public static final Map<Kind, Signature<TflNormalize>> SIGNATURES =
            Signature.ofEach(Kind.class, TflNormalize::signature);

    private static Signature<TflNormalize> signature(Kind kind) {
        return Signature.of(TflNormalize.class, kind.text())
                .data("data", operand -> operand.fits((what, type, op, args) -> op.fitData(type)))
                .scale("input scale")
                .zeroPoint("input zero point")
                .says("axis", -1)
                .attributes(() -> new TflNormalize(kind))
                .compiles(DType.INT8)
                .rules(TflNormalize::rules)
                .same();
    }

    @Override
    public Card<TflNormalize> card() {
        return SIGNATURES.get(kind).of(this);
    }

    /** The normalization of each vector. */
    public enum Kind {
        /** {@code (x - max) - log(sum(exp(x - max)))}, scale 1/16, zero point 127 (reference/log_softmax.h). */
        LOG_SOFTMAX(4095),
        /** {@code x / sqrt(sum(x * x))}, scale 1/128, zero point 0 (reference/integer_ops/l2normalization.h). */
        L2_NORMALIZE(33_025);

        private final int longest;

        Kind(int longest) {
            this.longest = longest;
        }

        /** The largest number of elements of a vector for which the reference kernel's sum stays within 32 bits. */
        public int longest() {
            return longest;
        }

        /** The name of the operator. */
        public String text() {
            return "tfl." + name().toLowerCase(Locale.ROOT);
        }
    }

    private void rules(Arguments args) {
        if (kind == Kind.LOG_SOFTMAX && args.constant(1).isPresent()) {
            float scale = args.constant(1).orElseThrow().real(0);
            args.require(TflNormalization.isScale(scale), "the input scale is " + scale, TflNormalization.scaleText());
        }
    }

    private void fitData(TensorType data) {
        Check.that(
                data.dtype() == DType.INT8 && data.shape().rank() > 0,
                "the data is " + data + ", not int8 of at least one dimension");
        Check.that(
                data.shape().dim(-1) <= kind.longest,
                "vectors have " + data.shape().dim(-1) + " elements, more than " + kind.longest);
    }
}
