// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.op.element.Unary;
import java.util.Set;

/** Element-wise functions of one type. */
record UnaryImporter(Unary.Kind kind, DType dtype) implements OperatorImporter {
    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        OperandTypes.require(operator, Set.of(dtype), data, operator.output());
        operator.check();
        operator.finish(operator.emit(new Unary(kind), operator.value(data)));
    }
}
