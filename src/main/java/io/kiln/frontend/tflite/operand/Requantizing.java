// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operand;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.frontend.tflite.tensor.TfliteTensor.TensorQuantization;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.FloatPrecision;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.TflRealRequantize;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import java.util.Optional;
import java.util.function.IntToDoubleFunction;

/**
 * The operators after the accumulator of a convolution or dense layer: bias and, for integers, rescaling to the output.
 */
public final class Requantizing {
    /** Limit of the reference kernels' 64-bit arithmetic. */
    private static final int MOST_WIDE_SHIFT = 14;

    /** Larger ratios of scales cannot be represented as a multiplier. */
    private static final float MOST_FACTOR = 1 << 30;

    private Requantizing() {}

    public static Arg addBias(OperatorContext operator, Arg accumulator, Optional<TfliteTensor> bias, int axis) {
        if (bias.isEmpty()) {
            return accumulator;
        }
        Shape shape = bias.get().shape();
        Arg value = operator.value(bias.get());
        Arg vector = shape.rank() == 1 ? value : operator.emit(new Reshape(Shape.of((int) shape.elements())), value);
        return operator.emit(new BiasAdd(axis), accumulator, vector);
    }

    /**
     * Rescales the sums of a convolution (PopulateConvolutionQuantizationParams in kernel_util.cc): every product is in
     * double precision, except for uint8, which is handled as in fully connected layers.
     */
    public static Arg rescale(OperatorContext operator, Arg value, int axis, TfliteTensor data, TfliteTensor weights) {
        if (data.shifted()) {
            return rescaleInSingle(operator, value, axis, data, weights);
        }
        TensorQuantization kernel = weights.quantization();
        double input = data.quantization().scale(0);
        double output = operator.output().quantization().scale(0);
        return rescale(operator, value, axis, 0, kernel.scaleCount(), c -> input * kernel.scale(c) / output);
    }

    /**
     * With one scale, the product of input and weight scale is rounded to single precision
     * (GetQuantizedConvolutionMultipler in kernel_util.cc); with one per unit it stays double, as for convolutions.
     */
    public static Arg rescaleInSingle(
            OperatorContext operator, Arg value, int axis, TfliteTensor data, TfliteTensor weights) {
        TensorQuantization kernel = weights.quantization();
        float input = data.quantization().scale(0);
        double output = operator.output().quantization().scale(0);
        return rescale(
                operator,
                value,
                axis,
                0,
                kernel.scaleCount(),
                c -> kernel.isPerTensor()
                        ? (double) (input * kernel.scale(c)) / output
                        : (double) input * kernel.scale(c) / output);
    }

    /**
     * Rescales sums with floats, as TensorFlow Lite's reference kernel of fully connected layers does (reference/integer_ops/fully_connected.h,
     * reference/fully_connected.h).
     */
    public static Arg rescaleInDouble(OperatorContext operator, Arg value, TfliteTensor data, TfliteTensor weights) {
        TfliteTensor output = operator.output();
        return operator.emit(
                new TflRealRequantize(output.dtype(), FloatPrecision.DOUBLE),
                value,
                scale(data),
                scales(operator, weights.quantization()),
                scale(output),
                Constant.scalar(0f),
                zeroPoint(output));
    }

    /** The sums of a quantized layer, less the zero points of its data and weights. */
    public static Arg sums(
            OperatorContext operator, Op op, TfliteTensor data, Arg rows, TfliteTensor weights, Arg kernel) {
        return operator.emit(
                op,
                rows,
                kernel,
                zeroPoint(data),
                weights.zeroPoint(),
                scale(data),
                scales(operator, weights.quantization()));
    }

    /** The data's zero point as an operator argument; 0 for float32. */
    public static Constant zeroPoint(TfliteTensor data) {
        return Constant.scalar(data.dtype().isFloat() ? 0 : data.quantization().zeroPoint());
    }

    /** The data's scale as an operator argument; 1 for float32. */
    public static Constant scale(TfliteTensor data) {
        return Constant.scalar(data.dtype().isFloat() ? 1 : data.quantization().scale(0));
    }

    /**
     * Rescales int32 or int64 to the operator's output.
     *
     * @param count number of multipliers: 1, or one per channel
     * @param multiplier the real multiplier of a channel
     */
    public static Arg rescale(
            OperatorContext operator,
            Arg value,
            int axis,
            int inputZeroPoint,
            int count,
            IntToDoubleFunction multiplier) {
        operator.spend(8L * count);
        boolean wide = operator.type(value).dtype() == DType.INT64;
        int[] multipliers = new int[count];
        int[] shifts = new int[count];
        for (int i = 0; i < count; i++) {
            double real = multiplier.applyAsDouble(i);
            QuantizedMultiplier quantized = multiplier(operator, real);
            if (wide && quantized.shift() > MOST_WIDE_SHIFT) {
                throw operator.failure(
                        "its scales multiply to " + real, "less than 2^" + MOST_WIDE_SHIFT + " for int16");
            }
            multipliers[i] = quantized.multiplier();
            shifts[i] = quantized.shift();
        }
        TfliteTensor output = operator.output();
        TflRequantize op =
                new TflRequantize(axis, inputZeroPoint, output.quantization().zeroPoint(), output.dtype());
        return count == 1
                ? operator.emit(op, value, Constant.scalar(multipliers[0]), Constant.scalar(shifts[0]))
                : operator.emit(op, value, Constant.vector(multipliers), Constant.vector(shifts));
    }

    /** Rescales int32 to the operator's output, all by one multiplier. */
    public static Arg rescale(OperatorContext operator, Arg value, QuantizedMultiplier by) {
        TfliteTensor output = operator.output();
        return operator.emit(
                new TflRequantize(-1, 0, output.quantization().zeroPoint(), output.dtype()),
                value,
                Constant.scalar(by.multiplier()),
                Constant.scalar(by.shift()));
    }

    /** The scale of the data divided by that of the output, in single precision as the kernels of RELU and ABS take it. */
    public static float quotient(TfliteTensor data, TfliteTensor output) {
        return data.quantization().scale(0) / output.quantization().scale(0);
    }

    /** A factor of LEAKY_RELU or ABS in fixed point; one that fixed point cannot represent is refused. */
    public static QuantizedMultiplier boundedMultiplier(OperatorContext operator, float real) {
        if (!(Math.abs(real) < MOST_FACTOR)) {
            throw operator.failure("its scales multiply to " + real, "scales of ordinary size");
        }
        return QuantizedMultiplier.of(real);
    }

    /** A quotient or product of scales in fixed point. */
    public static QuantizedMultiplier multiplier(OperatorContext operator, double real) {
        if (!Double.isFinite(real)) {
            throw operator.failure("its scales multiply to " + real, "scales of ordinary size");
        }
        return QuantizedMultiplier.of(real);
    }

    /** The scales of weights as an operator argument: a scalar or a vector. */
    public static Constant scales(OperatorContext operator, TensorQuantization quantization) {
        operator.spend(4L * quantization.scaleCount());
        if (quantization.isPerTensor()) {
            return Constant.scalar(quantization.scale(0));
        }
        return Constant.reals("", Shape.of(quantization.scaleCount()), quantization::scale);
    }
}
