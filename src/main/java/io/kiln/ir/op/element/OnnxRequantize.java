// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.arith.RealBias;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The rescaling of a layer's sums to int8 with a bias of real numbers: {@code saturate(outputZeroPoint + round((data * dataScale *
 * weightScale + bias) / outputScale))}, see {@link RealBias}. A quantized layer of ONNX whose bias is a float has it.
 *
 * <p>Arguments: data (int32, channels last), data scale, weight scale (scalar or per channel), bias (float32, per channel), output scale,
 * output zero point.
 */
public record OnnxRequantize() implements Op {
    @Override
    public String name() {
        return "onnx.requantize";
    }

    @Override
    public int arity() {
        return 6;
    }

    @Override
    public Map<String, Object> attributes() {
        return Map.of();
    }

    @Override
    public Set<Trait> traits() {
        return Set.of(Trait.TAKES_CLIP, Trait.RESCALES);
    }

    @Override
    public Set<DType> dataTypes() {
        return Set.of(DType.INT32);
    }

    @Override
    public void check(Arguments args) {
        args.scales(1);
        args.scales(2);
        args.quantization(4, 5, DType.INT8);
        args.constant(3).ifPresent(bias -> {
            boolean isFinite = true;
            for (int i = 0; i < bias.elements(); i++) {
                isFinite &= Float.isFinite(bias.real(i));
            }
            args.require(isFinite, "a bias of " + name() + " is not finite", "finite numbers");
        });
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        TensorType data = args.get(0);
        Check.that(
                data.dtype() == DType.INT32 && data.shape().rank() > 0,
                "data must be int32 of one dimension or more, not " + data.text());
        int channels = data.shape().dim(-1);
        Check.scalar("data scale", args.get(1), DType.FLOAT32);
        Check.perAxis("weight scale", args.get(2), DType.FLOAT32, channels);
        Check.that(
                args.get(3).equals(new TensorType(Shape.of(channels), DType.FLOAT32)),
                "the bias must be float32 for each of " + channels + " channels, not "
                        + args.get(3).text());
        Check.scalar("output scale", args.get(4), DType.FLOAT32);
        Check.scalar("output zero point", args.get(5), DType.INT32);
        return new TensorType(data.shape(), DType.INT8);
    }
}
