// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.arith.OnnxSoftmaxArithmetic;
import io.kiln.ir.arith.SingleLogarithm;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.OnnxForm;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Set;

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
    public OnnxSoftmax {
        Check.that(!isLog || form == OnnxForm.QDQ, "only the form `qdq` of a softmax has a logarithm");
    }

    @Override
    public String name() {
        return "onnx.softmax";
    }

    @Override
    public int arity() {
        return 5;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("axis", -1, "form", form.text(), "log", isLog);
    }

    @Override
    public Set<DType> dataTypes() {
        return Set.of(DType.INT8);
    }

    @Override
    public void check(Arguments args) {
        OnnxScales.check(name(), args);
        if (form != OnnxForm.QDQ && args.constant(3).isPresent()) {
            float scale = args.constant(3).orElseThrow().real(0);
            int count = args.data().shape().dim(-1);
            args.require(
                    scale <= 1 && OnnxSoftmaxArithmetic.isFinite(scale, count),
                    "the scale of a softmax of " + count + " elements is " + scale,
                    "at most 1, and so large that no intermediate result is infinite");
        }
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.dtype("data of " + name(), args.get(0), DType.INT8);
        Check.that(args.get(0).shape().rank() > 0, name() + " of a scalar");
        Check.that(
                !isLog || args.get(0).shape().dim(-1) <= SingleLogarithm.MOST,
                name() + ": the logarithm of more than " + (int) SingleLogarithm.MOST + " elements");
        for (int scale : List.of(1, 3)) {
            Check.scalar("scale", args.get(scale), DType.FLOAT32);
            Check.scalar("zero point", args.get(scale + 1), DType.INT32);
        }
        return args.get(0);
    }
}
