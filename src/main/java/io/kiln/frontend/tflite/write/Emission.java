// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.frontend.tflite.flatbuffer.Field;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions.OptionsType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.plan.Format;
import io.kiln.quantize.plan.Plan.PlannedNode;
import io.kiln.quantize.plan.Precision;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One node while it is written.
 *
 * @param planned the node
 * @param graph what is written to
 * @param output the tensor that the node computes
 */
record Emission(PlannedNode planned, GraphWriter graph, int output) {
    Op op() {
        return planned.node().op();
    }

    /** Type of the result. */
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
        /** No options. */
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
