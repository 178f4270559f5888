// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.cmsisnn;

import io.kiln.base.DType;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Pool2d;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.ir.type.TensorType;
import io.kiln.partition.Condition;
import io.kiln.partition.Match;
import java.util.List;
import java.util.stream.IntStream;

/** Conditions under which CMSIS-NN computes pools, sums and products of two tensors, and softmax. */
final class ElementConditions {
    private static final Condition TYPES = new Condition(
            "input and output are neither both int8 nor both int16",
            match -> CmsisNnPatterns.isNarrow(input(match).dtype())
                    && match.result().dtype() == input(match).dtype());
    private static final Condition BATCH =
            new Condition("the batch is not 1", match -> input(match).shape().dim(0) == 1);
    private static final Condition DILATION = new Condition("the window is dilated", match -> {
        Window window = ((Pool2d) match.root().op()).window();
        return window.dilationH() == 1 && window.dilationW() == 1;
    });
    private static final Condition MEAN = new Condition(
            "the mean does not round as TensorFlow Lite's",
            match -> !(match.root().op() instanceof AvgPool2d pool) || pool.rounding() == Rounding.TFLITE);

    static final List<Condition> POOL = List.of(TYPES, BATCH, DILATION, MEAN);

    private static final Condition SUM = new Condition(
            "the sum is not in TensorFlow Lite's arithmetic",
            match -> !(match.root().op() instanceof QnnAdd add) || add.rounding() == Rounding.TFLITE);
    private static final Condition OPERANDS = new Condition(
            "both operands are constant",
            match -> !(match.root().args().get(0) instanceof Constant)
                    || !(match.root().args().get(1) instanceof Constant));
    private static final Condition SHAPES = new Condition(
            "an operand that is not a constant scalar has another shape than the result",
            match -> IntStream.range(0, 2).allMatch(i -> {
                boolean isScalar = match.root().args().get(i) instanceof Constant constant && constant.elements() == 1;
                return isScalar
                        || match.argument(match.root(), i)
                                .shape()
                                .equals(match.result().shape());
            }));
    private static final Condition WIDE_ZERO_POINTS = new Condition(
            "a zero point of int16 is not 0",
            match -> input(match).dtype() != DType.INT16
                    || IntStream.of(3, 5, 7)
                            .allMatch(i -> CmsisNnPatterns.integers(match.root(), i).stream()
                                    .allMatch(zero -> zero == 0)));

    static final List<Condition> PAIR = List.of(TYPES, SUM, OPERANDS, SHAPES, WIDE_ZERO_POINTS);

    private static final Condition BETA =
            new Condition("beta is not 1", match -> ((TflSoftmax) match.root().op()).beta() == 1f);

    static final List<Condition> SOFTMAX = List.of(TYPES, BETA);

    private ElementConditions() {}

    private static TensorType input(Match match) {
        return match.argument(match.root(), 0);
    }
}
