// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT8;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operand.QuantizationRules;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Quantization;
import io.kiln.ir.arith.TflSigmoid;
import io.kiln.ir.arith.table.TflActivations;
import io.kiln.ir.op.element.TflSigmoid16;
import io.kiln.ir.op.element.Unary;
import java.util.Set;

/** LOGISTIC and TANH (logistic_common.cc, micro/kernels/tanh.cc). */
final class SigmoidImporter implements OperatorImporter {
    private static final float LEAST_SCALE = 1f / (1 << 30);
    private static final float MOST_SCALE = 2;

    /** A step of this size needs no multiplier beyond the table's. */
    private static final int POWER_OF_STEP = -12;

    private static final float STEPS_OF_ONE = 3 * 4096;

    private final TflSigmoid16.Kind kind;

    SigmoidImporter(TflSigmoid16.Kind kind) {
        this.kind = kind;
    }

    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor output = operator.output();
        OperandTypes.require(operator, Set.of(FLOAT32, INT8, INT16), data, output);
        operator.check();
        boolean logistic = kind == TflSigmoid16.Kind.LOGISTIC;
        if (data.dtype().isFloat()) {
            Unary op = new Unary(logistic ? Unary.Kind.SIGMOID : Unary.Kind.TANH);
            operator.finish(operator.emit(op, operator.value(data)));
            return;
        }
        OperandTypes.requireScales(operator, data, output);
        OperandTypes.requireSymmetric(operator, data);
        operator.check();
        float scale = data.dtype() == DType.INT16 ? 1f / (1 << 15) : logistic ? 1f / 256 : 1f / 128;
        int zeroPoint = data.dtype() == DType.INT8 && logistic ? Byte.MIN_VALUE : 0;
        QuantizationRules.requireFixed(operator, output, scale, zeroPoint);
        operator.require(
                data.quantization().scale(0) >= LEAST_SCALE
                        && data.quantization().scale(0) < MOST_SCALE,
                "`" + data.name() + "` has scale " + data.quantization().scale(0),
                "a scale from 2^-30 to 2",
                "Quantize the model again");
        operator.check();
        operator.finish(data.dtype() == DType.INT16 ? wide(operator, data) : narrow(operator, data));
    }

    private Arg narrow(OperatorContext operator, TfliteTensor data) {
        Quantization in = OperandTypes.quantization(data);
        return TableImporter.lookup(
                operator,
                data,
                kind == TflSigmoid16.Kind.LOGISTIC ? TflActivations.logistic(in) : TflActivations.tanh(in));
    }

    private Arg wide(OperatorContext operator, TfliteTensor data) {
        float scale = data.quantization().scale(0);
        float log2 = TflSigmoid.log2(scale);
        float power = FixedPoint.roundHalfAway(log2);
        int left = (int) power - POWER_OF_STEP;
        boolean powerOfTwo = Math.abs(log2 - power) < 1e-3f;
        if (powerOfTwo && (left == 0 || (left == 1 && kind == TflSigmoid16.Kind.TANH))) {
            return operator.emit(new TflSigmoid16(kind, 3 << left, 0), operator.value(data));
        }
        double multiplier = scale * (double) STEPS_OF_ONE;
        int shift = 0;
        while (multiplier <= Short.MAX_VALUE / 2.0) {
            multiplier *= 2;
            shift++;
        }
        return operator.emit(new TflSigmoid16(kind, (int) multiplier, shift), operator.value(data));
    }
}
