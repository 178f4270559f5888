// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT8;
import static io.kiln.base.DType.UINT8;

import io.kiln.frontend.Formulas;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TensorQuantization;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.type.Shape;
import java.util.Set;

/** DEQUANTIZE to float32; constants of float16 already are float32, and those with a scale for each channel become constants. */
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
        boolean isPerChannel =
                data.quantization().isPresent() && !data.quantization().isPerTensor();
        if (isPerChannel && data.isConstant()) {
            operator.finish(ofChannels(operator, data));
            return;
        }
        OperandTypes.requireScales(operator, data);
        operator.check();
        operator.finish(operator.emit(
                new QnnDequantize(), operator.value(data), OperandTypes.scale(data), OperandTypes.zeroPoint(data)));
    }

    /** {@code scale[c] * (element - zeroPoint[c])} in single precision (reference_ops::PerChannelDequantize). */
    private static Constant ofChannels(OperatorContext operator, TfliteTensor data) {
        Constant elements = operator.constant(data);
        operator.spend(4L * elements.elements());
        TensorQuantization quantization = data.quantization();
        Shape shape = data.shape();
        int channels = shape.dim(quantization.dimension());
        long behind = shape.dims().subList(quantization.dimension() + 1, shape.rank()).stream()
                .mapToLong(dim -> dim)
                .reduce(1, (a, b) -> a * b);
        float[] reals = new float[elements.elements()];
        for (int i = 0; i < reals.length; i++) {
            int channel = (int) (i / behind % channels);
            reals[i] = quantization.scale(channel) * (elements.integer(i) - quantization.zeroPoint(channel));
        }
        return new Formulas(operator).reals(reals, shape);
    }
}
