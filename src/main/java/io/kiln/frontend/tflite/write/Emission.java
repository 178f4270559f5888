// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.Field;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions.OptionsType;
import io.kiln.frontend.tflite.schema.SchemaEnums.FusedActivation;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.plan.Format;
import io.kiln.quantize.plan.Plan.PlannedNode;
import io.kiln.quantize.plan.Precision;
import io.kiln.quantize.plan.QuantizedConstants;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One node while it is written.
 *
 * @param output the tensor that the node computes
 */
record Emission(PlannedNode planned, GraphWriter graph, int output) {
    Op op() {
        return planned.node().op();
    }

    TensorType type() {
        return planned.node().type();
    }

    Optional<Clip> clip() {
        return planned.node().clip();
    }

    List<Arg> args() {
        return planned.node().args();
    }

    Constant weights() {
        return planned.node().weights();
    }

    /** Number format of the result. */
    Format format() {
        return planned.output();
    }

    /** Number format of the first data operand. */
    Format dataFormat() {
        return planned.data().get(0);
    }

    /** A new tensor of the result's type and format. */
    int tensor(String suffix) {
        return graph.tensor(name() + suffix, type(), format());
    }

    /** The version of an operator whose versions follow the type of its data. */
    int version(int ofFloat, int ofInt8, int ofInt16) {
        return switch (planned.precision()) {
            case FLOAT -> ofFloat;
            case INT8 -> ofInt8;
            case INT16 -> ofInt16;
        };
    }

    boolean isFloat() {
        return planned.precision() == Precision.FLOAT;
    }

    /** The tensor of a data operand. */
    int data(int position) {
        return graph.value(planned.node().data().get(position), planned.data().get(position));
    }

    /** All data operands. */
    List<Integer> data() {
        List<Integer> data = new ArrayList<>();
        for (int i = 0; i < planned.data().size(); i++) {
            data.add(data(i));
        }
        return data;
    }

    Shape dataShape(int position) {
        return planned.node().argTypes().get(position).shape();
    }

    Shape outputShape() {
        return planned.node().type().shape();
    }

    String name() {
        return planned.node().name();
    }

    /** Writes the operator with this node's output. */
    void write(BuiltinOperator code, int version, List<Integer> inputs, Options options) {
        graph.operator(code, version, inputs, output, options);
    }

    /** Writes an operator whose only inputs are the data and which has no options. */
    void write(BuiltinOperator code, int version) {
        write(code, version, data(), Options.NONE);
    }

    /** The fused activation of a node's clamp; NONE for any other clamp, which the range of an int8 result already implies. */
    int fusedActivation() {
        return clip().flatMap(Emission::activation).orElse(FusedActivation.NONE).code();
    }

    private static Optional<FusedActivation> activation(Clip clip) {
        if (clip.min() == 0) {
            return clip.max() == Float.MAX_VALUE
                    ? Optional.of(FusedActivation.RELU)
                    : clip.max() == 6 ? Optional.of(FusedActivation.RELU6) : Optional.empty();
        }
        return clip.min() == -1 && clip.max() == 1 ? Optional.of(FusedActivation.RELU_N1_TO_1) : Optional.empty();
    }

    /** The node as it is to be written: without its clamp if no fused activation computes that; {@link #clampAfter} then writes the clamp. */
    Emission unclamped() {
        if (!isSeparate()) {
            return this;
        }
        int unclamped = tensor("_unclamped");
        return new Emission(planned, graph, unclamped);
    }

    void clampAfter(Emission before) {
        if (isSeparate()) {
            limit(before.output(), clip().orElseThrow());
        }
    }

    private boolean isSeparate() {
        Optional<Clip> clip = clip();
        return planned.precision() != Precision.INT8
                && clip.isPresent()
                && clip.flatMap(Emission::activation).isEmpty();
    }

    /**
     * A clamp as operators. One of integers rescales the data first; RELU of int8 does both. RELU6 of TensorFlow Lite Micro does not rescale.
     */
    boolean writeClamp(Clip clip) {
        boolean isRelu = clip.min() == 0 && planned.precision() != Precision.INT16;
        if (isRelu && !hasGreater(clip)) {
            write(BuiltinOperator.RELU, version(1, 2, 2));
        } else if (isFloat() && activation(clip).equals(Optional.of(FusedActivation.RELU6))) {
            write(BuiltinOperator.RELU6, 1);
        } else {
            limit(rescaled(isRelu), clip);
        }
        return true;
    }

    /** The data in the result's format. */
    private int rescaled(boolean isRelu) {
        int data = data(0);
        if (graph.format(data).equals(format())) {
            return data;
        }
        int rescaled = tensor("_rescaled");
        if (isRelu) {
            graph.operator(BuiltinOperator.RELU, 2, List.of(data), rescaled, Options.NONE);
        } else {
            graph.convert(data, rescaled);
        }
        return rescaled;
    }

    /** The limits that the range of the data's type does not imply; the greatest one if it implies both. */
    private void limit(int data, Clip clip) {
        int version = version(1, 2, 4);
        int raised = data;
        if (hasLess(clip)) {
            boolean isLast = !hasGreater(clip);
            raised = isLast ? output() : tensor("_raised");
            graph.operator(BuiltinOperator.MAXIMUM, version, List.of(data, limit(clip.min())), raised, Options.NONE);
        }
        if (raised != output()) {
            write(BuiltinOperator.MINIMUM, version, List.of(raised, limit(clip.max())), Options.NONE);
        }
    }

    /** Whether the type of a result holds greater values than a clamp lets through. */
    private boolean hasGreater(Clip clip) {
        return format().quantization()
                .map(q -> integer(clip.max()) < format().dtype().max())
                .orElse(clip.max() < Float.MAX_VALUE);
    }

    private boolean hasLess(Clip clip) {
        return format().quantization()
                .map(q -> integer(clip.min()) > format().dtype().min())
                .orElse(clip.min() > -Float.MAX_VALUE);
    }

    private long integer(double limit) {
        return QuantizedConstants.of(
                        Constant.vector((float) limit),
                        format().dtype(),
                        format().quantization().orElseThrow())
                .integer(0);
    }

    private int limit(double limit) {
        return graph.value(Constant.vector((float) limit), format());
    }

    /** Writes nodes of a family of operators. */
    interface NodeWriter {
        /** Writes a node; false, with nothing written, if TensorFlow Lite has no such operator. */
        boolean write(Emission node);

        /** Whether TensorFlow Lite has an operator for this one, whatever its attributes and types are. */
        default boolean knows(Op op) {
            return true;
        }
    }

    /**
     * The options table of an operator.
     *
     * @param type which table of the schema
     * @param values its fields: Integer, Boolean or Float, as the field's type says
     */
    record Options(OptionsType type, Map<Field, Object> values) {
        static final Options NONE = new Options(OptionsType.NONE, Map.of());

        static Options of(OptionsType type) {
            return new Options(type, Map.of());
        }

        /** The same with a field. */
        Options with(Field field, Object value) {
            Map<Field, Object> more = new LinkedHashMap<>(values);
            more.put(field, value);
            return new Options(type, more);
        }
    }
}
