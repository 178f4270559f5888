// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.DType;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.TflSoftmaxTables;
import io.kiln.ir.op.Softmax;
import io.kiln.ir.op.TflSoftmax;

/** SOFTMAX over the last axis. */
final class SoftmaxImporter implements OperatorImporter {
    private static final int OPTIONS = 9;

    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        float beta = operator.requiredOptions(OPTIONS).f32(0, 0);
        DType result = operator.output().dtype();
        if (data.dtype() == DType.INT8 && result == DType.INT16) {
            ElementTypes.requireScale(operator, data);
            ElementTypes.requireScale(operator, operator.output());
        } else {
            ElementTypes.requireSame(operator, data, operator.output());
        }
        operator.require(
                beta > 0 && !Float.isInfinite(beta), "beta is " + beta, "a finite beta above 0", "Export again");
        operator.require(data.shape().rank() > 0, data.text() + " is not supported here", "a rank of at least 1", "");
        operator.check();
        if (data.dtype().isFloat()) {
            operator.finish(operator.emit(new Softmax(beta), operator.value(data)));
            return;
        }
        QuantizationRules.requireFixed(
                operator, operator.output(), 1f / (1 << (8 * result.bytes())), (int) result.min());
        requireFixedPoint(operator, data, beta);
        operator.check();
        operator.finish(operator.emit(
                new TflSoftmax(beta, result),
                operator.value(data),
                Constant.scalar(data.quantization().scale(0)),
                Constant.scalar(data.quantization().zeroPoint()),
                Constant.scalar(operator.output().quantization().scale(0)),
                Constant.scalar((int) result.min())));
    }

    private static void requireFixedPoint(OperatorContext operator, TfliteTensor data, float beta) {
        operator.require(
                data.shape().dim(-1) <= TflSoftmaxTables.MAX_ROW,
                "rows have " + data.shape().dim(-1) + " elements",
                "at most " + TflSoftmaxTables.MAX_ROW + " elements for int8",
                "Keep this softmax in float32");
        try {
            TflSoftmaxTables.exponentials(beta, data.quantization().scale(0));
        } catch (IllegalArgumentException e) {
            operator.require(false, e.getMessage(), "", "Quantize the model again");
        }
    }
}
