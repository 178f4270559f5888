// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT8;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operand.Requantizing;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TensorQuantization;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Clip;
import java.util.Set;

/** RELU, which may change the scale, and RELU6, which does not (micro/kernels/activations_common.cc). */
final class ReluImporter implements OperatorImporter {
    private static final float SIX = 6;
    private static final int LAST_AXIS = -1;

    private final boolean six;

    ReluImporter(boolean six) {
        this.six = six;
    }

    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor output = operator.output();
        OperandTypes.require(operator, Set.of(FLOAT32, INT8, INT16), data, output);
        operator.check();
        if (data.dtype().isFloat()) {
            operator.finish(operator.emit(new Clip(0, six ? SIX : Float.MAX_VALUE), operator.value(data)));
            return;
        }
        OperandTypes.requireScales(operator, data, output);
        if (!six) {
            OperandTypes.requireSymmetric(operator, data, output);
        }
        operator.check();
        operator.finish(six ? six(operator, data) : unlimited(operator, data, output));
    }

    private static Arg six(OperatorContext operator, TfliteTensor data) {
        TensorQuantization in = data.quantization();
        long steps = Math.min(Integer.MAX_VALUE, FixedPoint.roundHalfAway(SIX / in.scale(0)));
        long limit = FixedPoint.clamp(
                steps + in.zeroPoint(), data.dtype().min(), data.dtype().max());
        return operator.emit(new Clip(in.zeroPoint(), limit), operator.value(data));
    }

    private static Arg unlimited(OperatorContext operator, TfliteTensor data, TfliteTensor output) {
        TensorQuantization in = data.quantization();
        TensorQuantization out = output.quantization();
        boolean same = in.scale(0) == out.scale(0) && in.zeroPoint() == out.zeroPoint();
        double multiplier = in.scale(0) / out.scale(0);
        Arg value = operator.value(data);
        Arg rescaled =
                same ? value : Requantizing.rescale(operator, value, LAST_AXIS, in.zeroPoint(), 1, index -> multiplier);
        DType dtype = data.dtype();
        return operator.emit(new Clip(out.zeroPoint(), dtype.max()), rescaled);
    }
}
