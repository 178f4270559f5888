// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.element;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.arith.RealRescaling.RealBias;
import io.kiln.ir.arith.RealRescaling.RealScale;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.OnnxRequantize;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.element.TflRealRequantize;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Channels;
import io.kiln.reference.kernel.Tensor;
import java.util.Arrays;
import java.util.List;

/** Conversions between real numbers and quantized values, and between scales. */
public final class Rescaling {
    private Rescaling() {}

    public static Tensor quantize(QnnQuantize op, List<Tensor> args, TensorType type) {
        float[] data = args.get(0).floats();
        float scale = args.get(1).scalarFloat();
        int zeroPoint = args.get(2).scalarInt();
        return Tensor.ofLimited(type, i -> {
            float real = data[i] / scale;
            long steps = Float.isNaN(real)
                    ? Integer.MIN_VALUE
                    : FixedPoint.clamp(rounded(op.rounding(), real), Integer.MIN_VALUE, Integer.MAX_VALUE);
            return steps + zeroPoint;
        });
    }

    private static long rounded(Rounding rounding, float real) {
        return rounding == Rounding.ONNX ? (long) Math.rint(real) : FixedPoint.roundHalfAway(real);
    }

    public static Tensor dequantize(QnnDequantize op, List<Tensor> args, TensorType type) {
        int[] data = args.get(0).ints();
        float scale = args.get(1).scalarFloat();
        int zeroPoint = args.get(2).scalarInt();
        return Tensor.ofReals(type, i -> scale * (data[i] - zeroPoint));
    }

    public static Tensor requantize(TflRequantize op, List<Tensor> args, TensorType type) {
        boolean wide = args.get(0).type().dtype() == DType.INT64;
        int[] multipliers = args.get(1).ints();
        int[] shifts = args.get(2).ints();
        Channels channels = Channels.of(type.shape(), op.axis());
        return Tensor.ofLimited(type, i -> {
            int channel = channels.of(i);
            int multiplier = multipliers[multipliers.length == 1 ? 0 : channel];
            int shift = shifts[shifts.length == 1 ? 0 : channel];
            long rescaled = wide
                    ? FixedPoint.multiplyByQuantizedMultiplier(
                            args.get(0).longs()[i] - op.inputZeroPoint(), multiplier, shift)
                    : rescaled(op.rounding(), args.get(0).ints()[i] - op.inputZeroPoint(), multiplier, shift);
            return rescaled + op.outputZeroPoint();
        });
    }

    private static long rescaled(Rounding rounding, int x, int multiplier, int shift) {
        return switch (rounding) {
            case UPWARD -> FixedPoint.multiplyRoundingUpward(x, multiplier, shift);
            case TONEAREST -> FixedPoint.multiplyRoundingAway(x, multiplier, shift);
            case ONNX -> FixedPoint.multiplyInSinglePrecision(x, multiplier, shift);
            default -> FixedPoint.multiplyByQuantizedMultiplier(x, multiplier, shift);
        };
    }

    public static Tensor requantizeWithBias(OnnxRequantize op, List<Tensor> args, TensorType type) {
        int[] data = args.get(0).ints();
        float[] weightScales = args.get(2).floats();
        float[] bias = args.get(3).floats();
        RealBias[] by = new RealBias[bias.length];
        Arrays.setAll(
                by,
                c -> new RealBias(
                        (double) args.get(1).scalarFloat() * weightScales[weightScales.length == 1 ? 0 : c],
                        bias[c],
                        args.get(4).scalarFloat()));
        int zeroPoint = args.get(5).scalarInt();
        return Tensor.ofLimited(type, i -> by[i % by.length].rescale(data[i]) + zeroPoint);
    }

    public static Tensor requantizeReal(TflRealRequantize op, List<Tensor> args, TensorType type) {
        Tensor data = args.get(0);
        boolean wide = data.type().dtype() == DType.INT64;
        float[] weightScales = args.get(2).floats();
        RealScale[] by = new RealScale[weightScales.length];
        Arrays.setAll(
                by,
                c -> op.scale(
                        args.get(1).scalarFloat(),
                        weightScales[c],
                        args.get(3).scalarFloat(),
                        args.get(4).scalarFloat()));
        int zeroPoint = args.get(5).scalarInt();
        return Tensor.ofLimited(
                type, i -> by[i % by.length].rescale(wide ? data.longs()[i] : data.ints()[i]) + zeroPoint);
    }

    public static Tensor requantizeOnce(QnnRequantize op, List<Tensor> args, TensorType type) {
        int[] data = args.get(0).ints();
        float[] inputScales = args.get(1).floats();
        int inputZero = args.get(2).scalarInt();
        float outputScale = args.get(3).scalarFloat();
        int outputZero = args.get(4).scalarInt();
        QuantizedMultiplier[] by = new QuantizedMultiplier[inputScales.length];
        Arrays.setAll(by, i -> op.multiplier(inputScales[i], outputScale));
        Channels channels = Channels.of(type.shape(), op.axis());
        return Tensor.ofLimited(type, i -> {
            QuantizedMultiplier m = by[by.length == 1 ? 0 : channels.of(i)];
            return rescaled(op.rounding(), data[i] - inputZero, m.multiplier(), m.shift()) + outputZero;
        });
    }
}
