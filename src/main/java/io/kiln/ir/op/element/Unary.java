// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;
import java.util.Map;
import java.util.Set;

/**
 * A function of each element. Argument: data; the result has its type.
 *
 * @param kind the function
 */
public record Unary(Kind kind) implements Op {
    public static final Map<Kind, Signature<Unary>> SIGNATURES = Signature.ofEach(Kind.class, Unary::signature);

    private static Signature<Unary> signature(Kind kind) {
        return Signature.of(Unary.class, kind.relay)
                .data("data", kind.dtypes)
                .attributes(() -> new Unary(kind))
                .traits(Trait.TAKES_CLIP, Trait.ELEMENTWISE)
                .same();
    }

    @Override
    public Card<Unary> card() {
        return SIGNATURES.get(kind).of(this);
    }

    /** Functions of float32, unless they say otherwise. */
    public enum Kind {
        /** For float32, or for int16, where the smallest value stays unchanged. */
        ABS("abs", DType.FLOAT32, DType.INT16),
        NEGATIVE("negative", DType.FLOAT32),
        SQRT("sqrt", DType.FLOAT32),
        /** {@code 1 / sqrt(x)}. */
        RSQRT("rsqrt", DType.FLOAT32),
        EXP("exp", DType.FLOAT32),
        /** The natural logarithm. */
        LOG("log", DType.FLOAT32),
        SIN("sin", DType.FLOAT32),
        COS("cos", DType.FLOAT32),
        CEIL("ceil", DType.FLOAT32),
        FLOOR("floor", DType.FLOAT32),
        /**
         * To the nearest integer, halves to even (reference/round.h); Relay's {@code round} is defined by the target.
         */
        ROUND("tfl.round", DType.FLOAT32),
        /**
         * To the nearest integer, halves away from zero, as TVM's C code generator translates Relay's {@code round}
         * (roundf).
         */
        ROUND_AWAY("round", DType.FLOAT32),
        /** To the nearest float16, see {@link io.kiln.ir.arith.HalfRounding}. */
        ROUND_FLOAT16("onnx.round_float16", DType.FLOAT32),
        /** To the nearest bfloat16, likewise. */
        ROUND_BFLOAT16("onnx.round_bfloat16", DType.FLOAT32),
        /** {@code 1 / (1 + exp(-x))}. */
        SIGMOID("sigmoid", DType.FLOAT32),
        TANH("tanh", DType.FLOAT32),
        /** The error function: {@code 2 / sqrt(pi)} times the integral of {@code exp(-t * t)} from 0 to x. */
        ERF("erf", DType.FLOAT32),
        /** {@code 1 - erf(x)}, without the cancellation of the difference. */
        ERFC("tfl.erfc", DType.FLOAT32),
        /** {@code x < 0 ? exp(x) - 1 : x} (reference/elu.h). */
        ELU("tfl.elu", DType.FLOAT32),
        /** {@code x * min(6, max(0, x + 3)) / 6} (reference/hard_swish.h). */
        HARD_SWISH("tfl.hard_swish", DType.FLOAT32),
        /** For bool. */
        LOGICAL_NOT("logical_not", DType.BOOL);

        private final String relay;

        @SuppressWarnings("ImmutableEnumChecker") // Set.of makes it so
        private final Set<DType> dtypes;

        Kind(String relay, DType... dtypes) {
            this.relay = relay;
            this.dtypes = Set.of(dtypes);
        }
    }
}
