// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.stateful;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.op.call.CircularBuffer;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Set;

/**
 * CIRCULAR_BUFFER. Its output keeps its value and is always a variable here; a second output tells whether a period is
 * over. Without the second output, TensorFlow Lite Micro's interpreter ends the run after the operator until the period
 * is over; Kiln then supports only a period of one run, because a compiled function has results in every run.
 */
final class CircularBufferImporter implements OperatorImporter {
    /** Slots for which an unstated period is one run: TensorFlow Lite Micro derives this from its two models. */
    private static final Set<Integer> EVERY_RUN = Set.of(5, 13, 25);

    private static final String NEXT = "Export the model again";

    @Override
    public void emit(OperatorContext operator) {
        List<TfliteTensor> outputs = operator.outputs();
        operator.require(
                operator.inputCount() == 1 && (outputs.size() == 1 || outputs.size() == 2),
                "it has " + operator.inputCount() + " inputs and " + outputs.size() + " outputs",
                "1 input and 1 output, or a second that tells whether a period is over",
                NEXT);
        operator.check();
        TfliteTensor data = operator.input(0);
        TfliteTensor slots = outputs.get(0);
        OperandTypes.require(operator, Set.of(DType.INT8), data, slots);
        operator.require(slots.shape().rank() == 4, slots.text() + " does not have four dimensions", "slots", NEXT);
        operator.check();
        int cycles = cycles(operator, slots.shape());
        boolean tells = outputs.size() == 2;
        operator.require(
                tells || cycles == 1,
                "it ends the run before its period of " + cycles + " runs is over",
                "cycles_max of 1, or a second output that tells whether the period is over",
                "Export the model for a period of one run, or with the second output");
        if (tells) {
            operator.require(
                    outputs.get(1).dtype() == DType.BOOL
                            && outputs.get(1).shape().elements() == 1,
                    "its second output is " + outputs.get(1).text(),
                    "one bool",
                    NEXT);
        }
        operator.check();
        Arg over = operator.emit(
                new CircularBuffer(cycles), operator.value(data), variable(operator, slots), left(operator, cycles));
        if (tells) {
            TfliteTensor output = outputs.get(1);
            operator.finish(output, operator.emit(new Reshape(output.shape()), over));
        }
    }

    /** The period, determined like in circular_buffer_common.cc if it is not stated. */
    private static int cycles(OperatorContext operator, Shape slots) {
        int stated = operator.customOptions().integer("cycles_max", Integer.MIN_VALUE, Integer.MAX_VALUE, 0);
        if (stated > 0) {
            return stated;
        }
        boolean isEveryRun = EVERY_RUN.contains(slots.dim(1));
        operator.require(
                isEveryRun || slots.dim(2) != 2 || slots.dim(3) != 96,
                "its period is not stated, and depends on how many such operators were before",
                "cycles_max among its options",
                NEXT);
        return isEveryRun ? 1 : 2;
    }

    private static Arg variable(OperatorContext operator, TfliteTensor slots) {
        if (operator.values().value(slots.index()).isEmpty()) {
            operator.values().addVariable(slots);
        }
        return operator.values().value(slots.index()).orElseThrow();
    }

    private static Arg left(OperatorContext operator, int cycles) {
        ByteBuffer initial = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        return operator.graph()
                .variable(
                        operator.outputs().get(0).name() + "_left",
                        new TensorType(Shape.of(1), DType.INT32),
                        Bytes.wrap(initial.putInt(cycles).array()));
    }
}
