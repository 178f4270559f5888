// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.cmsisnn;

import io.kiln.base.DType;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Pool2d;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.ir.type.TensorType;
import io.kiln.partition.CompositePattern;
import io.kiln.partition.Condition;
import io.kiln.partition.Match;
import io.kiln.partition.PatternStep;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The patterns that CMSIS-NN takes: the table of TVM's {@code cmsis-nn} (python/tvm/relay/op/contrib/cmsisnn.py), for operators in the
 * arithmetic of TensorFlow Lite. Padding is part of the convolutions here.
 * Further conditions exclude convolutions for which CMSIS-NN's functions give other results.
 */
final class CmsisNnPatterns {
    static final String CONV2D = "cmsis-nn.qnn_conv2d";
    static final String FULLY_CONNECTED = "cmsis-nn.qnn_fully_connected";
    static final String AVG_POOL2D = "cmsis-nn.qnn_avg_pool2d";
    static final String MAX_POOL2D = "cmsis-nn.qnn_max_pool2d";
    static final String MUL = "cmsis-nn.qnn_mul";
    static final String ADD = "cmsis-nn.qnn_add";
    static final String SOFTMAX = "cmsis-nn.qnn_softmax";

    private static final PatternStep CLIP = PatternStep.of("clip", Clip.class).orNone();
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

    static final List<Condition> POOL_CONDITIONS = List.of(TYPES, BATCH, DILATION, MEAN);

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

    static final List<Condition> PAIR_CONDITIONS = List.of(TYPES, SUM, OPERANDS, SHAPES, WIDE_ZERO_POINTS);

    private static final Condition BETA =
            new Condition("beta is not 1", match -> ((TflSoftmax) match.root().op()).beta() == 1f);

    static final List<Condition> SOFTMAX_CONDITIONS = List.of(TYPES, BETA);

    private CmsisNnPatterns() {}

    /** All patterns, in TVM's order. */
    static List<CompositePattern> all(CmsisNnOptions options) {
        return List.of(
                layer(CONV2D, PatternStep.of("qnn.conv2d", QnnConv2d.class), LayerConditions.conv2d(options)),
                layer(FULLY_CONNECTED, PatternStep.of("qnn.dense", QnnDense.class), LayerConditions.DENSE),
                pool(AVG_POOL2D, PatternStep.of("cast_nn.avg_pool2d_cast", AvgPool2d.class)),
                pool(MAX_POOL2D, PatternStep.of("nn.max_pool2d", MaxPool2d.class)),
                pair(
                        MUL,
                        new PatternStep(
                                "qnn.mul",
                                op -> op instanceof QnnBinary binary
                                        && binary.equals(new QnnBinary(QnnBinary.Kind.MULTIPLY)),
                                false)),
                pair(ADD, PatternStep.of("qnn.add", QnnAdd.class)),
                new CompositePattern(
                        SOFTMAX,
                        List.of(PatternStep.of("qnn.dequantize_nn.softmax_qnn.quantize", TflSoftmax.class)),
                        SOFTMAX_CONDITIONS));
    }

    private static CompositePattern layer(String name, PatternStep root, List<Condition> conditions) {
        return new CompositePattern(
                name,
                List.of(
                        root,
                        PatternStep.of("nn.bias_add", BiasAdd.class).orNone(),
                        new PatternStep("qnn.requantize", op -> op.has(Trait.RESCALES), false),
                        CLIP),
                conditions);
    }

    private static CompositePattern pool(String name, PatternStep root) {
        return new CompositePattern(name, List.of(root, CLIP), POOL_CONDITIONS);
    }

    private static CompositePattern pair(String name, PatternStep root) {
        return new CompositePattern(name, List.of(root, CLIP), PAIR_CONDITIONS);
    }

    /** Whether an element type is one that CMSIS-NN computes with. */
    static boolean isNarrow(DType dtype) {
        return dtype == DType.INT8 || dtype == DType.INT16;
    }

    /** Integers of a constant argument; empty if it is computed. */
    static List<Long> integers(Binding binding, int position) {
        List<Long> values = new ArrayList<>();
        if (binding.args().get(position) instanceof io.kiln.ir.Constant constant) {
            for (int i = 0; i < constant.elements(); i++) {
                values.add(constant.integer(i));
            }
        }
        return values;
    }

    private static TensorType input(Match match) {
        return match.argument(match.root(), 0);
    }
}
