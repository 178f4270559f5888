// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.arith.OnnxSoftmaxArithmetic;
import io.kiln.ir.arith.SingleLogarithm;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.OnnxForm;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.Shape;

/**
 * Softmax of int8 along the last axis, or its logarithm, whose bytes are those of ONNX Runtime, see {@link OnnxSoftmaxArithmetic}:
 *
 * <ul>
 *   <li>{@link OnnxForm#QDQ}: {@code Softmax} or {@code LogSoftmax} of the real numbers, quantized.
 *   <li>Otherwise {@code QLinearSoftmax}: exponentials are those of a table, summed one after the other, multiplied by {@code floor(1 / scale)} and divided by
 *       the sum, then rounded to even. With {@link OnnxForm#UINT8} the zero point is added and the result saturates; with {@link OnnxForm#INT8}
 *       it wraps around, so that a probability of 1 becomes -128 with the usual zero point of -128 and scale of 1/256, as there.
 * </ul>
 *
 * <p>Arguments: data, its scale and zero point, the result's scale and zero point.
 *
 * @param form which kernel
 * @param isLog whether it is the logarithm, which only {@link OnnxForm#QDQ} has
 */
public record OnnxSoftmax(OnnxForm form, boolean isLog) implements Op {
    public static final Signature<OnnxSoftmax> SIGNATURE = Signature.of(OnnxSoftmax.class, "onnx.softmax")
            .data("data", operand -> operand.fits((what, type, op, args) -> op.fitData(type.shape())), DType.INT8)
            .quantization("input")
            .quantization("output")
            .says("axis", -1)
            .attributes(
                    OnnxForm.attribute(OnnxSoftmax::form), Attribute.truth("log", OnnxSoftmax::isLog), OnnxSoftmax::new)
            // It stores what its steps round: a limit has loops of its own.
            .traits()
            .rules(OnnxSoftmax::rules)
            .same();

    @Override
    public Card<OnnxSoftmax> card() {
        return SIGNATURE.of(this);
    }

    public OnnxSoftmax {
        Check.that(!isLog || form == OnnxForm.QDQ, "only the form `qdq` of a softmax has a logarithm");
    }

    private void rules(Arguments args) {
        OnnxScales.check(name(), args, 1, 3);
        if (form != OnnxForm.QDQ && args.constant(3).isPresent()) {
            float scale = args.constant(3).orElseThrow().real(0);
            int count = args.data().shape().dim(-1);
            args.require(
                    scale <= 1 && OnnxSoftmaxArithmetic.isFinite(scale, count),
                    "the scale of a softmax of " + count + " elements is " + scale,
                    "at most 1, and so large that no intermediate result is infinite");
        }
    }

    private void fitData(Shape data) {
        Check.that(data.rank() > 0, name() + " of a scalar");
        Check.that(
                !isLog || data.dim(-1) <= SingleLogarithm.MOST,
                name() + ": the logarithm of more than " + (int) SingleLogarithm.MOST + " elements");
    }
}
