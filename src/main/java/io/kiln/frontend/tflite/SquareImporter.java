// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.op.Binary;
import java.util.Set;

/** SQUARE of float32: a product of the tensor with itself. */
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
