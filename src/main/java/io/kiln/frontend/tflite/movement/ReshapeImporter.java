// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.movement;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.operand.ConstantParameters;
import io.kiln.frontend.tflite.operand.ElementTypes;
import io.kiln.frontend.tflite.operand.QuantizationRules;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.schema.MovementOptions;
import io.kiln.frontend.tflite.tensor.TensorReader;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.Arrays;
import java.util.Optional;

/**
 * RESHAPE as in TensorFlow Lite (reshape.cc): the new shape is the second operand if that is a vector of int32,
 * otherwise it is in the options. One dimension may be -1. Options of {@code [0]}, or none, make a scalar.
 */
final class ReshapeImporter implements OperatorImporter {
    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor output = operator.output();
        operator.require(
                data.dtype() == output.dtype(),
                "element types " + data.dtype().text() + " and "
                        + output.dtype().text() + " differ",
                "the same type on both sides",
                "Export the model again");
        if (data.quantization().isPerTensor() && output.quantization().isPerTensor()) {
            QuantizationRules.requireEqual(operator, data, output);
        }
        operator.check();
        int[] wanted = wantedShape(operator);
        long elements = data.shape().elements();
        Shape shape = operator.outputShape(() -> inferred(operator, wanted, data));
        operator.require(
                fits(wanted, shape, elements),
                "new shape " + Arrays.toString(wanted) + " does not fit",
                "the " + elements + " elements of " + data.text() + " as " + shape.text(),
                "Convert the model with a fixed input shape");
        operator.check();
        operator.finish(operator.emit(new Reshape(shape), operator.value(data)));
    }

    /** The new shape, with a dimension of -1 computed from the data. */
    private static Shape inferred(OperatorContext operator, int[] wanted, TfliteTensor data) {
        long known = 1;
        int computed = 0;
        for (int dim : wanted) {
            computed += dim == -1 ? 1 : 0;
            known *= dim == -1 || known > TensorType.MAX_BYTES ? 1 : Math.max(0, dim);
        }
        long elements = data.shape().elements();
        boolean fits = computed <= 1 && known > 0 && (computed == 0 ? known == elements : elements % known == 0);
        operator.require(
                fits,
                "new shape " + Arrays.toString(wanted) + " does not fit",
                "the " + elements + " elements of " + data.text(),
                "Correct kiln.inputShapes, or convert the model with this input shape");
        operator.check();
        int rest = (int) (elements / known);
        return Shape.of(Arrays.stream(wanted).map(dim -> dim == -1 ? rest : dim).toArray());
    }

    private static int[] wantedShape(OperatorContext operator) {
        Optional<TfliteTensor> vector = operator.optionalInput(1).filter(ReshapeImporter::isShapeVector);
        int[] dims = vector.isPresent() ? constantShape(operator, vector.get()) : optionsShape(operator);
        operator.require(
                dims.length <= TensorReader.MAX_RANK,
                "the new shape has rank " + dims.length,
                "a rank of at most " + TensorReader.MAX_RANK,
                "");
        operator.check();
        return dims;
    }

    /** Whether an operand is used as the new shape; one of another rank or type is ignored (ShapeIsVector). */
    private static boolean isShapeVector(TfliteTensor tensor) {
        return tensor.dtype() == DType.INT32 && tensor.shape().rank() == 1;
    }

    private static int[] constantShape(OperatorContext operator, TfliteTensor tensor) {
        ElementTypes.requireConstant(operator, "the new shape", tensor);
        operator.check();
        return ConstantParameters.ints(operator, "the new shape's dimensions", tensor);
    }

    private static int[] optionsShape(OperatorContext operator) {
        int[] dims = operator.options(MovementOptions.Reshape.TYPE)
                .map(options -> options.get(MovementOptions.Reshape.NEW_SHAPE).ints())
                .orElse(new int[0]);
        // Old converters wrote a scalar's shape like this (GetOutputShapeFromParam).
        return dims.length == 1 && dims[0] == 0 ? new int[0] : dims;
    }

    /** Whether the wanted dimensions are the output's, except for at most one -1. */
    private static boolean fits(int[] wanted, Shape output, long elements) {
        if (output.elements() != elements || wanted.length != output.rank()) {
            return false;
        }
        int computed = 0;
        for (int i = 0; i < wanted.length; i++) {
            if (wanted[i] == -1) {
                computed++;
            } else if (wanted[i] != output.dim(i)) {
                return false;
            }
        }
        return computed <= 1;
    }
}
