// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.constant;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.INT8;

import io.kiln.frontend.tflite.operand.ElementTypes;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Full;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** FILL: a tensor of one value. The value may be computed; the dimensions must be constant. */
final class FillImporter implements OperatorImporter {
    private static final int MOST_DIMS = 8;

    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor dims = operator.input(0);
        TfliteTensor value = operator.input(1);
        OperandTypes.require(operator, Set.of(INT8, INT16, INT32, INT64), dims);
        OperandTypes.require(operator, Set.of(FLOAT32, INT32, INT8), value, operator.output());
        ElementTypes.requireConstant(operator, "dimensions", dims);
        operator.require(
                dims.shape().rank() == 1 && dims.shape().dim(0) <= MOST_DIMS,
                "the dimensions are " + dims.text(),
                "a vector of at most " + MOST_DIMS,
                "");
        operator.require(value.shape().rank() == 0, "the value is " + value.text(), "a scalar", "");
        operator.check();
        Shape shape = shape(operator, operator.constant(dims));
        operator.finish(operator.emit(new Full(shape), operator.value(value)));
    }

    private static Shape shape(OperatorContext operator, Constant dims) {
        List<Integer> sizes = new ArrayList<>();
        double elements = 1;
        for (int i = 0; i < dims.elements(); i++) {
            long size = dims.integer(i);
            elements *= size;
            operator.require(
                    size >= 0 && elements <= TensorType.MAX_BYTES,
                    "dimension " + i + " is " + size,
                    "dimensions that make at most " + TensorType.MAX_BYTES + " bytes",
                    "Export the model again");
            operator.check();
            sizes.add((int) size);
        }
        operator.spend((long) (elements * Integer.BYTES));
        return new Shape(sizes);
    }
}
