// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.QnnDequantize;
import io.kiln.ir.op.QnnQuantize;

/** QUANTIZE (float32 to int8, or int8 to another scale) and DEQUANTIZE (int8 to float32). */
final class QuantizeImporter implements OperatorImporter {
    private static final int LAST_AXIS = -1;

    private final boolean quantize;

    QuantizeImporter(boolean quantize) {
        this.quantize = quantize;
    }

    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor output = operator.output();
        requireTypes(operator, data, output);
        for (TfliteTensor tensor : new TfliteTensor[] {data, output}) {
            if (tensor.dtype() == DType.INT8) {
                ElementTypes.requireScale(operator, tensor);
            }
        }
        operator.check();
        operator.finish(quantize ? emitQuantize(operator, data, output) : emitDequantize(operator, data));
    }

    private void requireTypes(OperatorContext operator, TfliteTensor data, TfliteTensor output) {
        boolean supported = quantize
                ? output.dtype() == DType.INT8
                        && (data.dtype() == DType.INT8 || data.dtype().isFloat())
                : data.dtype() == DType.INT8 && output.dtype().isFloat();
        operator.require(
                supported,
                "from " + data.dtype().text() + " to " + output.dtype().text() + " is not supported",
                quantize ? "float32 to int8, or int8 to int8" : "int8 to float32",
                "Convert the model with int8 or float32 inputs and outputs");
    }

    private static Arg emitQuantize(OperatorContext operator, TfliteTensor data, TfliteTensor output) {
        TensorQuantization to = output.quantization();
        if (data.dtype().isFloat()) {
            return operator.emit(
                    new QnnQuantize(DType.INT8),
                    operator.value(data),
                    Constant.scalar(to.scale(0)),
                    Constant.scalar(to.zeroPoint()));
        }
        TensorQuantization from = data.quantization();
        double multiplier = (double) from.scale(0) / to.scale(0);
        return Requantizing.rescale(
                operator, operator.value(data), LAST_AXIS, from.zeroPoint(), 1, index -> multiplier);
    }

    private static Arg emitDequantize(OperatorContext operator, TfliteTensor data) {
        TensorQuantization from = data.quantization();
        return operator.emit(
                new QnnDequantize(),
                operator.value(data),
                Constant.scalar(from.scale(0)),
                Constant.scalar(from.zeroPoint()));
    }
}
