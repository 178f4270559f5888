// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.layer;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.operand.ElementTypes;
import io.kiln.frontend.tflite.operand.QuantizationRules;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.schema.LayerOptions;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.FloatPrecision;
import io.kiln.ir.arith.TflInt16Softmax;
import io.kiln.ir.arith.TflSoftmaxTables;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.TflSoftmax;

/** SOFTMAX over the last axis. */
final class SoftmaxImporter implements OperatorImporter {
    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        float beta = operator.requiredOptions(LayerOptions.Softmax.TYPE).get(LayerOptions.Softmax.BETA);
        DType result = operator.output().dtype();
        if (result == DType.INT16 && (data.dtype() == DType.INT8 || data.dtype() == DType.INT16)) {
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
        int zeroPoint = TflSoftmax.outputZeroPoint(data.dtype(), result);
        QuantizationRules.requireFixed(
                operator, operator.output(), TflSoftmax.outputScale(data.dtype(), result), zeroPoint);
        requireFixedPoint(operator, data, beta);
        operator.check();
        operator.finish(operator.emit(
                new TflSoftmax(
                        beta,
                        result,
                        operator.followsLite() && data.dtype() == DType.INT16
                                ? FloatPrecision.DOUBLE
                                : FloatPrecision.SINGLE),
                operator.value(data),
                Constant.scalar(data.quantization().scale(0)),
                Constant.scalar(data.quantization().zeroPoint()),
                Constant.scalar(operator.output().quantization().scale(0)),
                Constant.scalar(zeroPoint)));
    }

    private static void requireFixedPoint(OperatorContext operator, TfliteTensor data, float beta) {
        boolean isWide = data.dtype() == DType.INT16;
        int most = isWide ? TflInt16Softmax.MAX_ROW : TflSoftmaxTables.MAX_ROW;
        operator.require(
                data.shape().dim(-1) <= most,
                "rows have " + data.shape().dim(-1) + " elements",
                "at most " + most + " elements for " + data.dtype().text(),
                "Keep this softmax in float32");
        try {
            if (isWide) {
                TflInt16Softmax.multiplier(beta, data.quantization().scale(0));
            } else {
                TflSoftmaxTables.exponentials(beta, data.quantization().scale(0));
            }
        } catch (IllegalArgumentException e) {
            operator.require(false, e.getMessage(), "", "Quantize the model again");
        }
    }
}
