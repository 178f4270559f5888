// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT8;

import io.kiln.base.Bytes;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Quantization;
import io.kiln.ir.arith.table.TflActivations;
import io.kiln.ir.arith.table.TflHardSwish;
import io.kiln.ir.op.element.TflLookup;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.Set;

/**
 * Functions of float32, and of int8 by a table.
 *
 * @param kind the function for float32
 * @param table the result for each int8 of TensorFlow Lite Micro's reference kernel
 * @param ofLite that of TensorFlow Lite's
 */
public record TableImporter(Unary.Kind kind, Table table, Table ofLite) implements OperatorImporter {
    static final TableImporter ELU = new TableImporter(Unary.Kind.ELU, TflActivations::elu, TflActivations::eluOfLite);
    static final TableImporter HARD_SWISH =
            new TableImporter(Unary.Kind.HARD_SWISH, TflHardSwish::table, TflHardSwish::table);

    /** Makes a table for given quantizations of input and output. */
    interface Table {
        /**
         * The results by {@code value + 128}.
         *
         * @throws IllegalArgumentException with a message for users if there is no table
         */
        int[] of(Quantization in, Quantization out);
    }

    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor output = operator.output();
        OperandTypes.require(operator, Set.of(FLOAT32, INT8), data, output);
        operator.check();
        if (data.dtype().isFloat()) {
            operator.finish(operator.emit(new Unary(kind), operator.value(data)));
            return;
        }
        OperandTypes.requireScales(operator, data, output);
        operator.check();
        int[] answers;
        try {
            answers = (operator.followsLite() ? ofLite : table)
                    .of(OperandTypes.quantization(data), OperandTypes.quantization(output));
        } catch (IllegalArgumentException e) {
            throw operator.failure(e.getMessage(), "scales of ordinary size");
        }
        operator.finish(lookup(operator, data, answers));
    }

    /** Looks up a function of int8. */
    public static Arg lookup(OperatorContext operator, TfliteTensor data, int[] answers) {
        operator.spend(answers.length);
        byte[] bytes = new byte[answers.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) answers[i];
        }
        TensorType type = new TensorType(Shape.of(answers.length), INT8);
        return operator.emit(new TflLookup(), operator.value(data), new Constant("", type, Bytes.wrap(bytes)));
    }
}
