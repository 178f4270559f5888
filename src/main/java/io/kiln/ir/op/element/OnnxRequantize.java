// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.arith.RealRescaling.RealBias;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * The rescaling of a layer's sums to int8 with a bias of real numbers: {@code saturate(outputZeroPoint + round((data * dataScale *
 * weightScale + bias) / outputScale))}, see {@link RealBias}. A quantized layer of ONNX whose bias is a float has it.
 *
 * <p>Arguments: data (int32, channels last), data scale, weight scale (scalar or per channel), bias (float32, per channel), output scale,
 * output zero point.
 */
public record OnnxRequantize() implements Op {
    public static final Signature<OnnxRequantize> SIGNATURE = Signature.of(OnnxRequantize.class, "onnx.requantize")
            .data(
                    "data",
                    operand -> operand.fits((what, type, op, args) -> Check.that(
                            type.shape().rank() > 0,
                            "data must be int32 of one dimension or more, not " + type.text())),
                    DType.INT32)
            .scale("data scale")
            .scales("weight scale", (op, args) -> args.get(0).shape().dim(-1))
            .constant("bias", operand -> operand.fits(OnnxRequantize::fitBias), DType.FLOAT32)
            .scale("output scale")
            .zeroPoint("output zero point", (op, args) -> DType.INT8)
            .attributes(OnnxRequantize::new)
            .traits(Trait.TAKES_CLIP, Trait.RESCALES)
            .rules(OnnxRequantize::rules)
            .to(DType.INT8);

    @Override
    public Card<OnnxRequantize> card() {
        return SIGNATURE.of(this);
    }

    private void rules(Arguments args) {
        args.constant(3).ifPresent(bias -> {
            boolean isFinite = true;
            for (int i = 0; i < bias.elements(); i++) {
                isFinite &= Float.isFinite(bias.real(i));
            }
            args.require(isFinite, "a bias of " + name() + " is not finite", "finite numbers");
        });
    }

    private static void fitBias(String what, TensorType bias, OnnxRequantize op, List<TensorType> args) {
        int channels = args.get(0).shape().dim(-1);
        Check.that(
                bias.equals(new TensorType(Shape.of(channels), DType.FLOAT32)),
                "the bias must be float32 for each of " + channels + " channels, not " + bias.text());
    }
}
