// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT8;

import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.QnnBinary;
import java.util.Set;

/** PRELU; the slopes of int16 are int8 (prelu_common.cc). */
final class PreluImporter implements OperatorImporter {
    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor slopes = operator.input(1);
        TfliteTensor output = operator.output();
        OperandTypes.require(operator, Set.of(FLOAT32, INT8, INT16), data, output);
        OperandTypes.require(operator, Set.of(data.dtype().isFloat() ? FLOAT32 : INT8), slopes);
        operator.check();
        if (data.dtype().isFloat()) {
            operator.finish(operator.emit(new Binary(Binary.Kind.PRELU), operator.value(data), operator.value(slopes)));
            return;
        }
        OperandTypes.requireScales(operator, data, slopes, output);
        operator.check();
        operator.finish(operator.emit(
                OperandTypes.binary(operator, QnnBinary.Kind.PRELU),
                operator.value(data),
                operator.value(slopes),
                OperandTypes.scale(data),
                OperandTypes.zeroPoint(data),
                OperandTypes.scale(slopes),
                OperandTypes.zeroPoint(slopes),
                OperandTypes.scale(output),
                OperandTypes.zeroPoint(output)));
    }
}
