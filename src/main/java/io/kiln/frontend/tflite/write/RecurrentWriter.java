// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions.SVDF;
import io.kiln.frontend.tflite.schema.OperatorOptions.UnidirectionalSequenceLSTM;
import io.kiln.frontend.tflite.schema.SchemaEnums.FusedActivation;
import io.kiln.frontend.tflite.write.Emission.Options;
import io.kiln.frontend.tflite.write.TfliteFile.OperatorEntry;
import io.kiln.frontend.tflite.write.TfliteFile.TensorEntry.Scaling;
import io.kiln.ir.Constant;
import io.kiln.ir.Quantization;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.plan.Format;
import io.kiln.quantize.plan.QuantizedConstants.FilterConstants;
import io.kiln.quantize.plan.QuantizedConstants.RecurrentConstants;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Writes layers with state: LSTM and SVDF. */
final class RecurrentWriter {
    private static final int SVDF_CONSTANTS = 3;

    private static final int INPUTS = 24;
    private static final int WEIGHTS = 1;
    private static final int BIASES = 12;
    private static final int HIDDEN = 18;
    private static final int CELL = 19;
    private static final int LEFT_OUT = -1;

    /** Scale of the sums of gates, for which the other intermediate tensors stand. */
    private static final float GATE_SCALE = 1f / 4096;

    private RecurrentWriter() {}

    /**
     * Writes UNIDIRECTIONAL_SEQUENCE_LSTM. The integer kernel reads the scale of {@code output * tanh(cell)} from its fifth intermediate
     * tensor, which is that of the result.
     */
    static boolean lstm(Emission node) {
        Lstm op = (Lstm) node.op();
        if (!RecurrentConstants.areKnown(node.planned().node())) {
            return false;
        }
        Integer[] inputs = new Integer[INPUTS];
        Arrays.fill(inputs, LEFT_OUT);
        inputs[0] = node.data(0);
        List<Integer> constants = node.isFloat() ? real(node) : integers(node);
        for (int i = 0; i < 2 * Lstm.GATES; i++) {
            inputs[WEIGHTS + i] = constants.get(i);
        }
        for (int i = 0; i < Lstm.GATES; i++) {
            inputs[BIASES + i] = constants.get(2 * Lstm.GATES + i);
        }
        Format hidden = node.format();
        inputs[HIDDEN] = state(node, op, "/hidden", hidden);
        inputs[CELL] = state(node, op, "/cell", node.isFloat() ? Format.FLOAT : cell(node));
        Options options = Options.of(UnidirectionalSequenceLSTM.TYPE)
                .with(UnidirectionalSequenceLSTM.FUSED_ACTIVATION_FUNCTION, FusedActivation.TANH.code())
                .with(UnidirectionalSequenceLSTM.CELL_CLIP, op.cellClip())
                .with(UnidirectionalSequenceLSTM.TIME_MAJOR, op.timeMajor());
        node.graph()
                .operator(new OperatorEntry(
                        BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM,
                        1,
                        "",
                        List.of(inputs),
                        List.of(node.output()),
                        options,
                        node.isFloat() ? List.of() : intermediates(node, hidden)));
        return true;
    }

    private static List<Integer> real(Emission node) {
        List<Integer> tensors = new ArrayList<>();
        for (Constant constant : RecurrentConstants.constants(node.planned().node())) {
            tensors.add(node.graph().constant(constant));
        }
        return tensors;
    }

    private static List<Integer> integers(Emission node) {
        RecurrentConstants constants = node.planned().stateful().recurrent().orElseThrow();
        List<Integer> tensors = new ArrayList<>();
        for (RecurrentConstants.Scaled constant : constants.all()) {
            tensors.add(node.graph().constant(constant.integers(), new Scaling(List.of(constant.scale()), 0, 0)));
        }
        return tensors;
    }

    private static Format cell(Emission node) {
        float scale = node.planned().stateful().recurrent().orElseThrow().cellScale();
        return new Format(DType.INT16, Optional.of(new Quantization(scale, 0)));
    }

    private static int state(Emission node, Lstm op, String suffix, Format format) {
        Shape shape = Shape.of(op.batch(node.dataShape(0)), node.outputShape().dim(2));
        return node.graph().variable(node.name() + suffix, new TensorType(shape, format.dtype()), format);
    }

    private static List<Integer> intermediates(Emission node, Format hidden) {
        Format gate = new Format(DType.INT16, Optional.of(new Quantization(GATE_SCALE, 0)));
        List<Integer> tensors = new ArrayList<>();
        for (int i = 0; i <= Lstm.GATES; i++) {
            Format format = i < Lstm.GATES ? gate : hidden;
            TensorType type = new TensorType(Shape.of(1), format.dtype());
            tensors.add(node.graph().tensor(node.name() + "/intermediate_" + i, type, format));
        }
        return tensors;
    }

    /**
     * Writes SVDF. TensorFlow Lite's integer kernel only accepts the activation RELU and implements it by the result's
     * zero point. So every integer filter is written with RELU. If it is clamped and the zero point is not the least byte, a
     * separate RELU follows.
     */
    static boolean svdf(Emission node) {
        Svdf op = (Svdf) node.op();
        boolean areKnown = node.args().subList(1, 1 + SVDF_CONSTANTS).stream().allMatch(Constant.class::isInstance);
        if (!areKnown) {
            return false;
        }
        boolean isClamped = node.clip().isPresent();
        boolean isSeparate = isClamped && !node.isFloat() && zeroPoint(node) != Byte.MIN_VALUE;
        int result = isSeparate ? node.tensor("_unclamped") : node.output();
        List<Integer> inputs = new ArrayList<>(List.of(node.data(0)));
        inputs.addAll(node.isFloat() ? svdfReals(node) : svdfIntegers(node));
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
        return node.format().quantization().orElseThrow().zeroPoint();
    }

    private static List<Integer> svdfReals(Emission node) {
        List<Integer> tensors = new ArrayList<>();
        for (int i = 1; i <= SVDF_CONSTANTS; i++) {
            tensors.add(node.graph().constant((Constant) node.args().get(i)));
        }
        tensors.add(svdfState(node, Format.FLOAT));
        return tensors;
    }

    private static List<Integer> svdfIntegers(Emission node) {
        FilterConstants constants = node.planned().stateful().filter().orElseThrow();
        FilterConstants.Scales scales = constants.scales();
        GraphWriter graph = node.graph();
        return List.of(
                graph.constant(constants.features(), scaling(scales.features())),
                graph.constant(constants.times(), scaling(scales.times())),
                graph.constant(constants.bias(), scaling(scales.times() * scales.state())),
                svdfState(node, new Format(DType.INT16, Optional.of(new Quantization(scales.state(), 0)))));
    }

    private static Scaling scaling(float scale) {
        return new Scaling(List.of(scale), 0, 0);
    }

    private static int svdfState(Emission node, Format format) {
        Shape times = node.planned().node().argTypes().get(2).shape();
        Shape shape = Shape.of(node.dataShape(0).dim(0), (int) times.elements());
        return node.graph().variable(node.name() + "/state", new TensorType(shape, format.dtype()), format);
    }
}
