// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Arg;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.reduce.Reduce;
import java.util.List;

/** What becomes of the scores of a row, (rows, scores) of float32, in the order of operations of ONNX Runtime. */
enum PostTransform {
    NONE,
    /** {@code 1 / (1 + exp(-score))} of each. */
    LOGISTIC,
    /** The exponentials of a row, divided by their sum. */
    SOFTMAX,
    /** {@link #SOFTMAX}, where scores near 0 count as 0. */
    SOFTMAX_ZERO,
    /** The inverse of the normal distribution's cumulative function at each, NaN outside of 0 to 1. */
    PROBIT;

    /** Scores up to this are taken for 0 by {@link #SOFTMAX_ZERO}. */
    private static final float NEARLY_ZERO = 0.0000001f;

    /** The one that a node states. */
    static PostTransform of(NodeContext node) {
        String text = node.text("post_transform", NONE.name());
        for (PostTransform each : values()) {
            if (each.name().equals(text)) {
                return each;
            }
        }
        throw node.failure("its post_transform is `" + text + "`", "NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO or PROBIT");
    }

    /** The transformed scores. */
    Arg of(NodeContext node, Arg scores) {
        return switch (this) {
            case NONE -> scores;
            case LOGISTIC -> logistic(node, scores);
            case SOFTMAX -> node.emit(new Softmax(1), scores);
            case SOFTMAX_ZERO -> softmaxZero(node, scores);
            case PROBIT -> probit(node, scores);
        };
    }

    /** {@code 1 / (1 + exp(-|x|))}, and for negative x what is left of 1. */
    private static Arg logistic(Formulas e, Arg x) {
        Arg one = e.real(1);
        Arg exponential = e.exp(e.negate(e.abs(x)));
        Arg value = e.divide(one, e.add(one, exponential));
        Arg isNegative = e.less(x, e.real(0));
        return e.where(isNegative, e.subtract(one, value), value);
    }

    private static Arg softmaxZero(Formulas e, Arg x) {
        int axis = e.shape(x).rank() - 1;
        Arg largest = e.reduce(Reduce.Kind.MAX, x, List.of(axis));
        Arg exponential = e.exp(e.subtract(x, largest));
        Arg small = e.multiply(x, e.exp(e.negate(largest)));
        Arg isLarge = e.greater(e.abs(x), e.real(NEARLY_ZERO));
        Arg zero = e.real(0);
        Arg sum = e.reduce(Reduce.Kind.SUM, e.where(isLarge, exponential, zero), List.of(axis));
        return e.divide(e.where(isLarge, exponential, small), sum);
    }

    /** {@code sqrt(2) * erfinv(2x - 1)}, of which ONNX Runtime computes Winitzki's approximation. */
    private static Arg probit(Formulas e, Arg x) {
        Arg y = e.add(e.multiply(x, 2), -1);
        Arg one = e.real(1);
        Arg logarithm = e.log(e.multiply(e.subtract(one, y), e.add(one, y)));
        Arg v = e.add(e.multiply(logarithm, 0.5), e.real(2 / (3.14159f * 0.147f)));
        Arg v2 = e.multiply(logarithm, e.real(1 / 0.147f));
        Arg inner = e.sqrt(e.subtract(e.multiply(v, v), v2));
        Arg root = e.sqrt(e.subtract(inner, v));
        Arg isNegative = e.less(y, e.real(0));
        return e.multiply(e.where(isNegative, e.negate(root), root), 1.4142135f);
    }
}
