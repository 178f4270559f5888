// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.element;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Channels;
import io.kiln.reference.kernel.Tensor;
import java.util.List;
import java.util.function.LongBinaryOperator;

/** Operators that compute each element from the corresponding elements. */
public final class Elementwise {
    private Elementwise() {}

    public static Tensor biasAdd(BiasAdd op, List<Tensor> args, TensorType type) {
        Channels channels = Channels.of(type.shape(), op.axis());
        Tensor data = args.get(0);
        Tensor bias = args.get(1);
        if (type.dtype().isFloat()) {
            return Tensor.ofReals(type, i -> data.floats()[i] + bias.floats()[channels.of(i)]);
        }
        return type.dtype() == DType.INT64
                ? Tensor.ofLongs(type, i -> data.longs()[i] + bias.longs()[channels.of(i)])
                : Tensor.ofInts(type, i -> data.ints()[i] + bias.ints()[channels.of(i)]);
    }

    public static Tensor clip(Clip op, List<Tensor> args, TensorType type) {
        if (type.dtype().isFloat()) {
            float[] data = args.get(0).floats();
            float low = op.min() > -Float.MAX_VALUE ? (float) op.min() : Float.NEGATIVE_INFINITY;
            float high = op.max() < Float.MAX_VALUE ? (float) op.max() : Float.POSITIVE_INFINITY;
            return Tensor.ofReals(type, i -> data[i] < low ? low : data[i] > high ? high : data[i]);
        }
        int[] data = args.get(0).ints();
        return Tensor.ofInts(type, i -> FixedPoint.clamp(data[i], (long) op.min(), (long) op.max()));
    }

    public static Tensor addQuantized(QnnAdd op, List<Tensor> args, TensorType type) {
        LongBinaryOperator sum = op.rounding() == Rounding.TFLITE ? tfliteSum(args) : roundedSum(args);
        int[] lhs = args.get(0).ints();
        int[] rhs = args.get(1).ints();
        int lhsZero = args.get(3).scalarInt();
        int rhsZero = args.get(5).scalarInt();
        int outZero = args.get(7).scalarInt();
        int[] lhsIndex = broadcast(args.get(0).shape(), type.shape());
        int[] rhsIndex = broadcast(args.get(1).shape(), type.shape());
        return Tensor.ofLimited(
                type, i -> sum.applyAsLong(lhs[lhsIndex[i]] - lhsZero, rhs[rhsIndex[i]] - rhsZero) + outZero);
    }

    /** The sum of two values less their zero points, on the output's scale. */
    private static LongBinaryOperator tfliteSum(List<Tensor> args) {
        TflAddParameters by = TflAddParameters.of(
                args.get(0).type().dtype(),
                args.get(2).scalarFloat(),
                args.get(4).scalarFloat(),
                args.get(6).scalarFloat());
        return (lhs, rhs) -> by.scaleOutput(by.scaleLhs((int) lhs) + by.scaleRhs((int) rhs));
    }

    /** Likewise, with each operand rounded separately. */
    private static LongBinaryOperator roundedSum(List<Tensor> args) {
        double outputScale = args.get(6).scalarFloat();
        QuantizedMultiplier lhsBy = QuantizedMultiplier.of(args.get(2).scalarFloat() / outputScale);
        QuantizedMultiplier rhsBy = QuantizedMultiplier.of(args.get(4).scalarFloat() / outputScale);
        return (lhs, rhs) -> FixedPoint.multiplyRoundingUpward((int) lhs, lhsBy.multiplier(), lhsBy.shift())
                + FixedPoint.multiplyRoundingUpward((int) rhs, rhsBy.multiplier(), rhsBy.shift());
    }

    /** For each element of the output, the index of the element of a broadcast operand. */
    static int[] broadcast(Shape operand, Shape output) {
        int[] index = new int[(int) output.elements()];
        int outputStride = 1;
        int operandStride = 1;
        for (int back = 1; back <= output.rank(); back++) {
            int dim = output.dim(-back);
            int own = back <= operand.rank() ? operand.dim(-back) : 1;
            if (own > 1) {
                for (int i = 0; i < index.length; i++) {
                    index[i] += i / outputStride % dim * operandStride;
                }
            }
            outputStride *= dim;
            operandStride *= own;
        }
        return index;
    }
}
