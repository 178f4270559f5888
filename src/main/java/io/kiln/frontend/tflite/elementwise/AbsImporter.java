// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operand.Requantizing;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.arith.table.TflActivations;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.TflLeakyRelu;
import io.kiln.ir.op.element.Unary;
import java.util.Set;

/** ABS; that of int32 wraps around, and int16 may be quantized or not (micro/kernels/elementwise.cc). */
final class AbsImporter implements OperatorImporter {
    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor output = operator.output();
        OperandTypes.require(operator, Set.of(FLOAT32, INT8, INT16, INT32), data, output);
        operator.check();
        if (data.dtype() == INT32) {
            Formulas f = new Formulas(operator);
            Arg value = operator.value(data);
            operator.finish(f.binary(Binary.Kind.MAXIMUM, value, f.subtract(f.number(0, INT32), value)));
            return;
        }
        boolean plain = data.dtype() == DType.INT16 && !data.quantization().isPresent();
        if (data.dtype().isFloat() || plain) {
            operator.finish(operator.emit(new Unary(Unary.Kind.ABS), operator.value(data)));
            return;
        }
        OperandTypes.requireScales(operator, data, output);
        OperandTypes.requireSymmetric(operator, data, output);
        operator.check();
        QuantizedMultiplier by = Requantizing.boundedMultiplier(operator, Requantizing.quotient(data, output));
        operator.finish(
                data.dtype() == DType.INT8
                        ? TableImporter.lookup(
                                operator,
                                data,
                                TflActivations.abs(
                                        OperandTypes.quantization(data), OperandTypes.quantization(output), by))
                        : wide(operator, data, by));
    }

    /** LEAKY_RELU's arithmetic with a second slope of the opposite sign. */
    private static Arg wide(OperatorContext operator, TfliteTensor data, QuantizedMultiplier by) {
        QuantizedMultiplier mirrored = new QuantizedMultiplier(-by.multiplier(), by.shift());
        return operator.emit(new TflLeakyRelu(0, 0, by, mirrored), operator.value(data));
    }
}
