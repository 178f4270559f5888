// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.FusedActivation;
import io.kiln.frontend.tflite.schema.LayerOptions.SVDF;
import io.kiln.frontend.tflite.write.TfliteTensorEntry.Scaling;
import io.kiln.ir.Constant;
import io.kiln.ir.Quantization;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.plan.FilterConstants;
import io.kiln.quantize.plan.Format;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Writes SVDF. TensorFlow Lite's integer kernel only accepts the activation RELU and implements it by the result's
 * zero point. So every integer filter is written with RELU. If it is clamped and the zero point is not the least byte, a
 * separate RELU follows.
 */
final class FilterWriter implements NodeWriter {
    private static final int CONSTANTS = 3;

    @Override
    public boolean write(Emission node) {
        Svdf op = (Svdf) node.op();
        boolean areKnown =
                node.planned().node().args().subList(1, 1 + CONSTANTS).stream().allMatch(Constant.class::isInstance);
        if (!areKnown) {
            return false;
        }
        boolean isClamped = node.planned().node().clip().isPresent();
        boolean isSeparate = isClamped && !node.isFloat() && zeroPoint(node) != Byte.MIN_VALUE;
        int result = isSeparate
                ? node.graph()
                        .tensor(
                                node.name() + "_unclamped",
                                node.planned().node().type(),
                                node.planned().output())
                : node.output();
        List<Integer> inputs = new ArrayList<>(List.of(node.data(0)));
        inputs.addAll(node.isFloat() ? real(node) : integers(node));
        FusedActivation activation = node.isFloat() && !isClamped ? FusedActivation.NONE : FusedActivation.RELU;
        node.graph()
                .operator(
                        BuiltinOperator.SVDF,
                        node.version(1, 3, 3),
                        inputs,
                        result,
                        Options.of(SVDF.TYPE)
                                .with(SVDF.RANK, op.rank())
                                .with(SVDF.FUSED_ACTIVATION_FUNCTION, activation.code()));
        if (isSeparate) {
            node.write(BuiltinOperator.RELU, 2, List.of(result), Options.NONE);
        }
        return true;
    }

    private static int zeroPoint(Emission node) {
        return node.planned().output().quantization().orElseThrow().zeroPoint();
    }

    private static List<Integer> real(Emission node) {
        List<Integer> tensors = new ArrayList<>();
        for (int i = 1; i <= CONSTANTS; i++) {
            tensors.add(node.graph()
                    .constant((Constant) node.planned().node().args().get(i)));
        }
        tensors.add(state(node, Format.FLOAT));
        return tensors;
    }

    private static List<Integer> integers(Emission node) {
        FilterConstants constants = node.planned().stateful().filter().orElseThrow();
        FilterConstants.Scales scales = constants.scales();
        GraphWriter graph = node.graph();
        return List.of(
                graph.constant(constants.features(), scaling(scales.features())),
                graph.constant(constants.times(), scaling(scales.times())),
                graph.constant(constants.bias(), scaling(scales.times() * scales.state())),
                state(node, new Format(DType.INT16, Optional.of(new Quantization(scales.state(), 0)))));
    }

    private static Scaling scaling(float scale) {
        return new Scaling(List.of(scale), 0, 0);
    }

    private static int state(Emission node, Format format) {
        Shape times = node.planned().node().argTypes().get(2).shape();
        Shape shape = Shape.of(node.dataShape(0).dim(0), (int) times.elements());
        return node.graph().variable(node.name() + "/state", new TensorType(shape, format.dtype()), format);
    }
}
