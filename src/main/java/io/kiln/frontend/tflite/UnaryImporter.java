// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.DType;
import io.kiln.ir.op.Unary;
import java.util.Set;

/** Functions of one element of one type. */
record UnaryImporter(Unary.Kind kind, DType dtype) implements OperatorImporter {
    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        OperandTypes.require(operator, Set.of(dtype), data, operator.output());
        operator.check();
        operator.finish(operator.emit(new Unary(kind), operator.value(data)));
    }
}
