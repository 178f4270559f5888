// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.layer;

import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.L2_NORMALIZATION;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.L2_POOL_2D;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.LOG_SOFTMAX;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.flatbuffer.FlatTable;
import io.kiln.frontend.tflite.operand.Activation;
import io.kiln.frontend.tflite.operand.ElementTypes;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operand.PaddedWindows;
import io.kiln.frontend.tflite.operand.QuantizationRules;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.schema.FusedActivation;
import io.kiln.frontend.tflite.schema.LayerOptions.L2Norm;
import io.kiln.frontend.tflite.schema.LayerOptions.Pool2D;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.TflNormalization;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.TflNormalize;
import io.kiln.ir.op.reduce.Reduce;
import java.util.List;

/**
 * L2_NORMALIZATION, L2_POOL_2D and LOG_SOFTMAX of float32, composed of sums and element-wise operators in the order of
 * the reference kernels (reference/l2normalization.h, pooling.h, log_softmax.h); for int8, the first and the last in
 * fixed point.
 */
public final class NormalizationImporters {
    private static final int NO_ACTIVATION = FusedActivation.NONE.code();
    private static final float EPSILON = 1e-6f;
    private static final PaddedWindows.Pair NO_DILATION = new PaddedWindows.Pair(1, 1);

    public static final List<Registration> ALL = List.of(
            builtin(L2_NORMALIZATION, 2, NormalizationImporters::normalize),
            builtin(L2_POOL_2D, 1, NormalizationImporters::pool),
            builtin(LOG_SOFTMAX, 2, NormalizationImporters::logSoftmax).uint8AsInt8());

    private NormalizationImporters() {}

    /** Divides by the square root of the sum of squares along the last dimension, at least {@link #EPSILON}. */
    private static void normalize(OperatorContext operator) {
        int activation = operator.options(L2Norm.TYPE)
                .map(o -> o.get(L2Norm.FUSED_ACTIVATION_FUNCTION))
                .orElse(NO_ACTIVATION);
        operator.require(
                activation == NO_ACTIVATION, "an activation is fused into it", "none", "Put the activation after it");
        if (isQuantized(operator, TflNormalize.Kind.L2_NORMALIZE)) {
            finish(operator, TflNormalize.Kind.L2_NORMALIZE, 1f / 128, 0);
            return;
        }
        Arg data = floats(operator);
        Arg norm = unary(operator, Unary.Kind.SQRT, sum(operator, binary(operator, Binary.Kind.MULTIPLY, data, data)));
        // The second operand is the result if it is not a number.
        Arg divisor = binary(operator, Binary.Kind.MAXIMUM, Constant.scalar(EPSILON), norm);
        operator.finish(binary(operator, Binary.Kind.DIVIDE, data, divisor));
    }

    /** {@code (x - max) - log(sum(exp(x - max)))} along the last dimension. */
    private static void logSoftmax(OperatorContext operator) {
        if (isQuantized(operator, TflNormalize.Kind.LOG_SOFTMAX)) {
            float scale = operator.input(0).quantization().scale(0);
            operator.require(
                    TflNormalization.isScale(scale),
                    "the input has scale " + scale,
                    TflNormalization.scaleText(),
                    "Quantize the model again");
            finish(operator, TflNormalize.Kind.LOG_SOFTMAX, 1f / 16, 127);
            return;
        }
        Arg data = floats(operator);
        Arg largest = operator.emit(new Reduce(Reduce.Kind.MAX, last(operator), true), data);
        Arg below = binary(operator, Binary.Kind.SUBTRACT, data, largest);
        Arg sum = sum(operator, unary(operator, Unary.Kind.EXP, below));
        operator.finish(binary(operator, Binary.Kind.SUBTRACT, below, unary(operator, Unary.Kind.LOG, sum)));
    }

    /** The square root of the mean of squares in a window. */
    private static void pool(OperatorContext operator) {
        Arg data = floats(operator);
        FlatTable options = operator.requiredOptions(Pool2D.TYPE);
        Activation activation = Activation.read(operator, options.get(Pool2D.FUSED_ACTIVATION_FUNCTION));
        operator.require(
                operator.input(0).shape().rank() == 4,
                operator.input(0).text() + " is not supported here",
                "rank 4",
                "");
        operator.check();
        Window window = PaddedWindows.of(
                operator,
                operator.input(0).shape(),
                options.get(Pool2D.PADDING),
                new PaddedWindows.Pair(options.get(Pool2D.FILTER_HEIGHT), options.get(Pool2D.FILTER_WIDTH)),
                new PaddedWindows.Pair(options.get(Pool2D.STRIDE_H), options.get(Pool2D.STRIDE_W)),
                NO_DILATION);
        operator.check();
        Arg mean = operator.emit(new AvgPool2d(window), binary(operator, Binary.Kind.MULTIPLY, data, data));
        operator.finish(activation.apply(operator, unary(operator, Unary.Kind.SQRT, mean)));
    }

    /** Whether the data are quantized; if so, checks that vectors do not exceed the longest sum of the kind. */
    private static boolean isQuantized(OperatorContext operator, TflNormalize.Kind kind) {
        TfliteTensor data = operator.input(0);
        if (data.dtype() != DType.INT8 || data.shape().rank() == 0) {
            return false;
        }
        OperandTypes.requireScales(operator, data, operator.output());
        ElementTypes.requireSame(operator, data, operator.output());
        operator.require(
                data.shape().dim(-1) <= kind.longest(),
                "vectors have " + data.shape().dim(-1) + " elements",
                "at most " + kind.longest() + " elements for int8",
                "Keep this operator in float32");
        operator.check();
        return true;
    }

    private static void finish(OperatorContext operator, TflNormalize.Kind kind, float scale, int zeroPoint) {
        TfliteTensor data = operator.input(0);
        QuantizationRules.requireFixed(operator, operator.output(), scale, zeroPoint);
        operator.check();
        operator.finish(operator.emit(
                new TflNormalize(kind), operator.value(data), OperandTypes.scale(data), OperandTypes.zeroPoint(data)));
    }

    /** The data, of float32 and at least rank 1. */
    private static Arg floats(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        operator.require(
                data.dtype().isFloat() && data.shape().rank() > 0,
                data.text() + " is not supported here",
                "float32 of at least one dimension, or int8 except for L2_POOL_2D",
                "Keep this operator in float32");
        operator.check();
        return operator.value(data);
    }

    private static List<Integer> last(OperatorContext operator) {
        return List.of(operator.input(0).shape().rank() - 1);
    }

    private static Arg sum(OperatorContext operator, Arg value) {
        return operator.emit(new Reduce(Reduce.Kind.SUM, last(operator), true), value);
    }

    private static Arg unary(OperatorContext operator, Unary.Kind kind, Arg value) {
        return operator.emit(new Unary(kind), value);
    }

    private static Arg binary(OperatorContext operator, Binary.Kind kind, Arg lhs, Arg rhs) {
        return operator.emit(new Binary(kind), lhs, rhs);
    }
}
