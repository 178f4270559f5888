// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * TVM's rescaling, rounding once: {@code saturate(outputZeroPoint + round((data - inputZeroPoint) * multiplier *
 * 2^(shift - 31)))}, where multiplier (Q31) and shift are those of {@code inputScale / outputScale}, divided in double
 * precision ({@link io.kiln.base.FixedPoint.QuantizedMultiplier#of}; GetFixedPointMultiplierShift in TVM's
 * src/relay/qnn/utils.cc). The product is exact in 64 bits, and nothing wraps around.
 *
 * <p>With {@link Rounding#ONNX}: {@code saturate(outputZeroPoint + round((float) data * (inputScale / outputScale)))},
 * every step in single precision, halves to even (ONNX Runtime, MlasRequantizeOutput in
 * core/mlas/lib/quantize.cpp).
 *
 * <p>Arguments: data (int8 or int32), input scale (scalar or per channel), input zero point, output scale, output zero point.
 *
 * @param axis channel axis of a per-channel input scale; negative counts from the end
 * @param rounding {@link Rounding#UPWARD} or {@link Rounding#TONEAREST}; for int32 also {@link Rounding#ONNX}
 * @param outDtype type that the result saturates to
 */
public record QnnRequantize(int axis, Rounding rounding, DType outDtype) implements Op {
    /** Largest ratio of an input's scale to the output's. */
    private static final double MOST_RATIO = 1 << 29;

    /** Relay's name of its arithmetic: 64-bit integers. */
    public static final String COMPUTE_DTYPE = "int64";

    public QnnRequantize {
        Check.that(
                rounding == Rounding.UPWARD || rounding == Rounding.TONEAREST || rounding == Rounding.ONNX,
                "rounding must be UPWARD, TONEAREST or ONNX, not " + rounding);
    }

    /** The multiplier from an input scale to the output's; in ONNX's arithmetic a float32. */
    public QuantizedMultiplier multiplier(float inputScale, float outputScale) {
        return QuantizedMultiplier.of(
                rounding == Rounding.ONNX ? inputScale / outputScale : inputScale / (double) outputScale);
    }

    @Override
    public String name() {
        return "qnn.requantize";
    }

    @Override
    public int arity() {
        return 5;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes(
                "axis",
                axis,
                "rounding",
                rounding.name(),
                "compute_dtype",
                COMPUTE_DTYPE,
                "out_dtype",
                outDtype.text());
    }

    @Override
    public Set<Trait> traits() {
        return Set.of(Trait.TAKES_CLIP, Trait.RESCALES);
    }

    @Override
    public Set<DType> dataTypes() {
        return Set.of(DType.INT8, DType.INT32);
    }

    @Override
    public void check(Arguments args) {
        args.scales(1);
        args.quantization(3, 4, DType.INT8);
        args.ratio(1, 3, MOST_RATIO);
        boolean isWide = args.data().dtype() == DType.INT32;
        args.integers(
                2,
                "zero point",
                zero -> isWide ? zero == 0 : Arguments.isIn(DType.INT8, zero),
                isWide ? "0 for int32" : "-128 to 127");
        if (args.constant(1).filter(scales -> scales.elements() > 1).isPresent()) {
            args.lastAxis(axis);
        }
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        TensorType data = args.get(0);
        boolean isScalar = data.shape().rank() == 0;
        if (!isScalar) {
            Check.axis(data, axis);
        }
        Check.that(
                data.dtype() == DType.INT8 || data.dtype() == DType.INT32,
                "data must be int8 or int32, not " + data.dtype().text());
        Check.that(
                rounding != Rounding.ONNX || (data.dtype() == DType.INT32 && outDtype.bytes() < Integer.BYTES),
                "rounding ONNX rescales int32 to a narrower type, not "
                        + data.dtype().text() + " to " + outDtype.text());
        Check.perAxis(
                "input scale",
                args.get(1),
                DType.FLOAT32,
                isScalar ? 1 : data.shape().dim(axis));
        Check.scalar("input zero point", args.get(2), DType.INT32);
        Check.scalar("output scale", args.get(3), DType.FLOAT32);
        Check.scalar("output zero point", args.get(4), DType.INT32);
        return new TensorType(data.shape(), outDtype);
    }
}
