// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT8;
import static io.kiln.base.DType.UINT8;

import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.op.element.QnnDequantize;
import java.util.Set;

/** DEQUANTIZE to float32; constants of float16 already are float32. */
final class DequantizeImporter implements OperatorImporter {
    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        if (data.dtype() == FLOAT32 && data.isConstant()) {
            operator.finish(operator.constant(data));
            return;
        }
        OperandTypes.require(operator, Set.of(INT8, INT16, UINT8), data);
        OperandTypes.require(operator, Set.of(FLOAT32), operator.output());
        operator.check();
        OperandTypes.requireScales(operator, data);
        operator.check();
        operator.finish(operator.emit(
                new QnnDequantize(), operator.value(data), OperandTypes.scale(data), OperandTypes.zeroPoint(data)));
    }
}
