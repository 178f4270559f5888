// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.arith.TflNormalization;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * TensorFlow Lite's fixed-point normalizations of int8 along the last axis, see {@link io.kiln.ir.arith.TflNormalization}.
 *
 * <p>Arguments: data, input scale, input zero point. The kind determines the quantization of the output.
 *
 * @param kind the normalization
 */
public record TflNormalize(Kind kind) implements Op {
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

    @Override
    public String name() {
        return kind.text();
    }

    @Override
    public int arity() {
        return 3;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("axis", -1);
    }

    @Override
    public Set<DType> dataTypes() {
        return Set.of(DType.INT8);
    }

    @Override
    public void check(Arguments args) {
        args.quantization(1, 2, DType.INT8);
        if (kind == Kind.LOG_SOFTMAX && args.constant(1).isPresent()) {
            float scale = args.constant(1).orElseThrow().real(0);
            args.require(TflNormalization.isScale(scale), "the input scale is " + scale, TflNormalization.scaleText());
        }
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        TensorType data = args.get(0);
        Check.scalar("input scale", args.get(1), DType.FLOAT32);
        Check.scalar("input zero point", args.get(2), DType.INT32);
        if (data.dtype() != DType.INT8 || data.shape().rank() == 0) {
            throw new IllegalArgumentException("the data is " + data + ", not int8 of at least one dimension");
        }
        if (data.shape().dim(-1) > kind.longest) {
            throw new IllegalArgumentException(
                    "vectors have " + data.shape().dim(-1) + " elements, more than " + kind.longest);
        }
        return data;
    }
}
