// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import java.util.Set;

/** SQUARE of float32: the product of the tensor with itself. */
final class SquareImporter implements OperatorImporter {
    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        OperandTypes.require(operator, Set.of(DType.FLOAT32), data, operator.output());
        operator.check();
        Arg value = operator.value(data);
        operator.finish(operator.emit(new Binary(Binary.Kind.MULTIPLY), value, value));
    }
}
