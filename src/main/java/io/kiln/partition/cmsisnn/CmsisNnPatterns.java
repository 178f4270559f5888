// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.cmsisnn;

import io.kiln.base.DType;
import io.kiln.ir.Binding;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.partition.CompositePattern;
import io.kiln.partition.Condition;
import io.kiln.partition.PatternStep;
import java.util.ArrayList;
import java.util.List;

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
                        ElementConditions.SOFTMAX));
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
        return new CompositePattern(name, List.of(root, CLIP), ElementConditions.POOL);
    }

    private static CompositePattern pair(String name, PatternStep root) {
        return new CompositePattern(name, List.of(root, CLIP), ElementConditions.PAIR);
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
}
