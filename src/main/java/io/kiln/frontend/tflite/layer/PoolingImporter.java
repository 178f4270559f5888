// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.layer;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.flatbuffer.FlatTable;
import io.kiln.frontend.tflite.operand.Activation;
import io.kiln.frontend.tflite.operand.ElementTypes;
import io.kiln.frontend.tflite.operand.PaddedWindows;
import io.kiln.frontend.tflite.operand.QuantizationRules;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.schema.LayerOptions.Pool2D;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.MaxPool2d;

/** AVERAGE_POOL_2D and MAX_POOL_2D, directly on the quantized values: input and output share one quantization. */
final class PoolingImporter implements OperatorImporter {
    private static final PaddedWindows.Pair NO_DILATION = new PaddedWindows.Pair(1, 1);

    private final boolean average;

    PoolingImporter(boolean average) {
        this.average = average;
    }

    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        FlatTable options = operator.requiredOptions(Pool2D.TYPE);
        Activation activation = Activation.read(operator, options.get(Pool2D.FUSED_ACTIVATION_FUNCTION));
        if (data.dtype() == DType.INT16 && operator.output().dtype() == DType.INT16) {
            ElementTypes.requireScale(operator, data);
            ElementTypes.requireScale(operator, operator.output());
        } else {
            ElementTypes.requireSame(operator, data, operator.output());
        }
        operator.require(data.shape().rank() == 4, data.text() + " is not supported here", "a tensor of rank 4", "");
        operator.check();
        if (!data.dtype().isFloat()) {
            QuantizationRules.requireEqual(operator, data, operator.output());
        }
        Window window = PaddedWindows.of(
                operator,
                data.shape(),
                options.get(Pool2D.PADDING),
                new PaddedWindows.Pair(options.get(Pool2D.FILTER_HEIGHT), options.get(Pool2D.FILTER_WIDTH)),
                new PaddedWindows.Pair(options.get(Pool2D.STRIDE_H), options.get(Pool2D.STRIDE_W)),
                NO_DILATION);
        operator.check();
        operator.finish(activation.apply(
                operator,
                operator.emit(average ? average(window, data) : new MaxPool2d(window), operator.value(data))));
    }

    /** Halves of uint8 are rounded up, never towards the zero point. */
    private static AvgPool2d average(Window window, TfliteTensor data) {
        return new AvgPool2d(window, data.shifted() ? Rounding.UPWARD : Rounding.TFLITE);
    }
}
