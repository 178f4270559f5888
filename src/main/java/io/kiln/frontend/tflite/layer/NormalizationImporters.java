// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.layer;

import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.operator.Registration.builtinOfBytes;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.operand.Activation;
import io.kiln.frontend.tflite.operand.PaddedWindows;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.operator.Registration.OperatorImporter;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions;
import io.kiln.frontend.tflite.schema.OperatorOptions.L2Norm;
import io.kiln.frontend.tflite.schema.OperatorOptions.Pool2D;
import io.kiln.frontend.tflite.schema.SchemaEnums.FusedActivation;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.FloatPrecision;
import io.kiln.ir.arith.TflInt16Softmax;
import io.kiln.ir.arith.TflNormalization;
import io.kiln.ir.arith.TflSoftmaxTables;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.TflNormalize;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.ir.op.reduce.Reduce;
import java.util.List;

/**
 * Pools, SOFTMAX, LOG_SOFTMAX and L2_NORMALIZATION. L2_NORMALIZATION, L2_POOL_2D and LOG_SOFTMAX of float32 are composed of sums and
 * element-wise operators in the order of the reference kernels (reference/l2normalization.h, pooling.h, log_softmax.h); for int8, the
 * first and the last are computed in fixed point.
 */
public final class NormalizationImporters {
    private static final int NO_ACTIVATION = FusedActivation.NONE.code();
    private static final float EPSILON = 1e-6f;
    private static final PaddedWindows.Pair NO_DILATION = new PaddedWindows.Pair(1, 1);

    public static final List<Registration> ALL = List.of(
            builtin(BuiltinOperator.L2_NORMALIZATION, 2, NormalizationImporters::normalize),
            builtin(BuiltinOperator.L2_POOL_2D, 1, NormalizationImporters::pool),
            builtinOfBytes(BuiltinOperator.LOG_SOFTMAX, 2, NormalizationImporters::logSoftmax),
            builtinOfBytes(BuiltinOperator.AVERAGE_POOL_2D, 3, new PoolingImporter(true)),
            builtinOfBytes(BuiltinOperator.MAX_POOL_2D, 3, new PoolingImporter(false)),
            builtinOfBytes(BuiltinOperator.SOFTMAX, 3, NormalizationImporters::softmax));

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
        Arg norm = operator.sqrt(sum(operator, operator.multiply(data, data)));
        // The second operand is the result if it is not a number.
        Arg divisor = operator.maximum(Constant.scalar(EPSILON), norm);
        operator.finish(operator.divide(data, divisor));
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
        Arg largest = operator.reduce(Reduce.Kind.MAX, data, last(operator));
        Arg below = operator.subtract(data, largest);
        Arg sum = sum(operator, operator.exp(below));
        operator.finish(operator.subtract(below, operator.log(sum)));
    }

    /** The square root of the mean of squares in a window. */
    private static void pool(OperatorContext operator) {
        Arg data = floats(operator);
        FlatTable options = operator.requiredOptions(Pool2D.TYPE);
        Activation activation = Activation.read(operator, options.get(Pool2D.FUSED_ACTIVATION_FUNCTION));
        operator.requireThat(
                operator.input(0).shape().rank() == 4,
                operator.input(0).text() + " is not supported here",
                "rank 4",
                "");
        Window window = window(operator, options);
        Arg mean = operator.emit(new AvgPool2d(window), operator.multiply(data, data));
        operator.finish(activation.apply(operator, operator.sqrt(mean)));
    }

    private static Window window(OperatorContext operator, FlatTable options) {
        Window window = PaddedWindows.of(
                operator,
                operator.input(0).shape(),
                options.get(Pool2D.PADDING),
                new PaddedWindows.Pair(options.get(Pool2D.FILTER_HEIGHT), options.get(Pool2D.FILTER_WIDTH)),
                new PaddedWindows.Pair(options.get(Pool2D.STRIDE_H), options.get(Pool2D.STRIDE_W)),
                NO_DILATION);
        operator.check();
        return window;
    }

    /** Whether the data are quantized; if so, checks that vectors do not exceed the longest sum of the kind. */
    private static boolean isQuantized(OperatorContext operator, TflNormalize.Kind kind) {
        TfliteTensor data = operator.input(0);
        if (data.dtype() != DType.INT8 || data.shape().rank() == 0) {
            return false;
        }
        operator.requireScales(data, operator.output());
        operator.requireSame(data, operator.output());
        operator.requireThat(
                data.shape().dim(-1) <= kind.longest(),
                "vectors have " + data.shape().dim(-1) + " elements",
                "at most " + kind.longest() + " elements for int8",
                "Keep this operator in float32");
        return true;
    }

    private static void finish(OperatorContext operator, TflNormalize.Kind kind, float scale, int zeroPoint) {
        TfliteTensor data = operator.input(0);
        operator.requireFixed(operator.output(), scale, zeroPoint);
        operator.check();
        operator.finish(new TflNormalize(kind), operator.value(data), data.scale(), data.zeroPoint());
    }

    /** The data, of float32 and at least rank 1. */
    private static Arg floats(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        operator.requireThat(
                data.dtype().isFloat() && data.shape().rank() > 0,
                data.text() + " is not supported here",
                "float32 of at least one dimension, or int8 except for L2_POOL_2D",
                "Keep this operator in float32");
        return operator.value(data);
    }

    private static List<Integer> last(OperatorContext operator) {
        return List.of(operator.input(0).shape().rank() - 1);
    }

    private static Arg sum(OperatorContext operator, Arg value) {
        return operator.reduce(Reduce.Kind.SUM, value, last(operator));
    }

    /** SOFTMAX over the last axis. */
    private static void softmax(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        float beta = operator.requiredOptions(OperatorOptions.Softmax.TYPE).get(OperatorOptions.Softmax.BETA);
        DType result = operator.output().dtype();
        if (result == DType.INT16 && (data.dtype() == DType.INT8 || data.dtype() == DType.INT16)) {
            operator.requireScales(data);
            operator.requireScales(operator.output());
        } else {
            operator.requireSame(data, operator.output());
        }
        operator.require(
                beta > 0 && !Float.isInfinite(beta), "beta is " + beta, "a finite beta above 0", "Export again");
        operator.requireThat(
                data.shape().rank() > 0, data.text() + " is not supported here", "a rank of at least 1", "");
        if (data.dtype().isFloat()) {
            operator.finish(new Softmax(beta), operator.value(data));
            return;
        }
        int zeroPoint = TflSoftmax.outputZeroPoint(data.dtype(), result);
        operator.requireFixed(operator.output(), TflSoftmax.outputScale(data.dtype(), result), zeroPoint);
        requireFixedPoint(operator, data, beta);
        operator.check();
        operator.finish(
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
                Constant.scalar(zeroPoint));
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

    /** AVERAGE_POOL_2D and MAX_POOL_2D, directly on the quantized values: input and output share one quantization. */
    private record PoolingImporter(boolean average) implements OperatorImporter {
        @Override
        public void emit(OperatorContext operator) {
            TfliteTensor data = operator.input(0);
            FlatTable options = operator.requiredOptions(Pool2D.TYPE);
            Activation activation = Activation.read(operator, options.get(Pool2D.FUSED_ACTIVATION_FUNCTION));
            if (data.dtype() == DType.INT16 && operator.output().dtype() == DType.INT16) {
                operator.requireScales(data);
                operator.requireScales(operator.output());
            } else {
                operator.requireSame(data, operator.output());
            }
            operator.requireThat(
                    data.shape().rank() == 4, data.text() + " is not supported here", "a tensor of rank 4", "");
            if (!data.dtype().isFloat()) {
                operator.requireEqual(data, operator.output());
            }
            Window window = window(operator, options);
            operator.finish(activation.apply(
                    operator,
                    operator.emit(average ? average(window, data) : new MaxPool2d(window), operator.value(data))));
        }

        /** Halves of uint8 are rounded up, never towards the zero point. */
        private static AvgPool2d average(Window window, TfliteTensor data) {
            return new AvgPool2d(window, data.shifted() ? Rounding.UPWARD : Rounding.TFLITE);
        }
    }
}
