// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import static io.kiln.base.DType.BOOL;
import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT8;

import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Where;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/** SELECT_V2 with broadcasting, and SELECT, whose condition may be a vector along the first dimension. */
final class SelectImporter implements OperatorImporter {
    private final boolean first;

    /**
     * @param first for SELECT
     */
    SelectImporter(boolean first) {
        this.first = first;
    }

    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor condition = operator.input(0);
        TfliteTensor x = operator.input(1);
        TfliteTensor y = operator.input(2);
        OperandTypes.require(operator, Set.of(BOOL), condition);
        OperandTypes.require(operator, Set.of(FLOAT32, INT8, INT16), x, y, operator.output());
        operator.check();
        Arg value = operator.value(condition);
        if (first) {
            value = spread(operator, value, condition, x);
            operator.require(
                    x.shape().equals(y.shape()), x.text() + " and " + y.text() + " differ", "one shape for both", "");
            operator.check();
        }
        operator.finish(operator.emit(new Where(), value, operator.value(x), operator.value(y)));
    }

    private static Arg spread(OperatorContext operator, Arg value, TfliteTensor condition, TfliteTensor x) {
        Shape shape = condition.shape();
        boolean leading = shape.rank() == 1
                && x.shape().rank() > 1
                && shape.dim(0) == x.shape().dim(0);
        operator.require(
                leading || shape.rank() == 0 || shape.equals(x.shape()),
                "the condition " + condition.text() + " does not fit " + x.text(),
                "the same shape, a scalar, or a vector for the first dimension",
                "Use SELECT_V2");
        operator.check();
        if (!leading) {
            return value;
        }
        List<Integer> dims = new ArrayList<>(Collections.nCopies(x.shape().rank(), 1));
        dims.set(0, shape.dim(0));
        return operator.emit(new Reshape(new Shape(dims)), value);
    }
}
