// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.Shape;
import io.kiln.quantize.plan.Plan.PlannedNode;
import io.kiln.quantize.plan.Precision;
import java.util.ArrayList;
import java.util.List;

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
}
