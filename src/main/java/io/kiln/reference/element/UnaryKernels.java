// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.element;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.arith.ErrorFunction;
import io.kiln.ir.arith.HalfRounding;
import io.kiln.ir.arith.InterpolatedTable;
import io.kiln.ir.arith.TflSigmoid;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.element.Lookups.TflLookup;
import io.kiln.ir.op.element.Lookups.TflLookup16;
import io.kiln.ir.op.element.TflLeakyRelu;
import io.kiln.ir.op.element.TflSigmoid16;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Tensor;
import java.util.List;
import java.util.function.IntUnaryOperator;

/** Functions of one element. */
public final class UnaryKernels {
    /** From this argument on the logistic function's reference kernel returns 1. */
    private static final float LOGISTIC_ONE = 16.619047f;

    private static final float LOGISTIC_EXP = -9f;

    private UnaryKernels() {}

    private interface Real {
        float of(float x);
    }

    static Tensor unary(Unary op, List<Tensor> args, TensorType type) {
        if (type.dtype() == DType.BOOL) {
            return integers(args, type, x -> 1 - x);
        }
        if (!type.dtype().isFloat()) {
            return integers(args, type, x -> (short) Math.abs(x));
        }
        return reals(args, type, x -> real(op.kind(), x));
    }

    static Tensor leakyRelu(LeakyRelu op, List<Tensor> args, TensorType type) {
        return reals(args, type, x -> x > 0 ? x : x * op.alpha());
    }

    static Tensor lookup(TflLookup op, List<Tensor> args, TensorType type) {
        Tensor table = args.get(1);
        int[] index = args.get(0).ints().clone();
        for (int i = 0; i < index.length; i++) {
            index[i] -= Byte.MIN_VALUE;
        }
        return table.gather(index, type);
    }

    static Tensor interpolated(TflLookup16 op, List<Tensor> args, TensorType type) {
        int[] table = args.get(1).ints();
        return integers(args, type, x -> InterpolatedTable.at(table, x));
    }

    static Tensor sigmoid(TflSigmoid16 op, List<Tensor> args, TensorType type) {
        return integers(
                args,
                type,
                switch (op.kind()) {
                    case LOGISTIC -> x -> TflSigmoid.logistic(x, op.multiplier(), op.shift());
                    case TANH -> x -> TflSigmoid.tanh(x, op.multiplier(), op.shift());
                });
    }

    static Tensor leakyRelu(TflLeakyRelu op, List<Tensor> args, TensorType type) {
        return integers(args, type, value -> {
            int x = value - op.inputZeroPoint();
            QuantizedMultiplier by = x >= 0 ? op.positive() : op.negative();
            return FixedPoint.clamp(
                    (long) FixedPoint.multiplyByQuantizedMultiplier(x, by.multiplier(), by.shift())
                            + op.outputZeroPoint(),
                    type.dtype().min(),
                    type.dtype().max());
        });
    }

    private static float real(Unary.Kind kind, float x) {
        return switch (kind) {
            case ABS -> Math.abs(x);
            case NEGATIVE -> -x;
            case SQRT -> (float) Math.sqrt(x);
            case RSQRT -> 1 / (float) Math.sqrt(x);
            case EXP -> (float) Math.exp(x);
            case LOG -> (float) Math.log(x);
            case SIN -> (float) Math.sin(x);
            case COS -> (float) Math.cos(x);
            case CEIL -> (float) Math.ceil(x);
            case FLOOR -> (float) Math.floor(x);
            case ROUND -> (float) Math.rint(x);
            case ROUND_AWAY -> roundedAway(x);
            case ROUND_FLOAT16 -> HalfRounding.toFloat16(x);
            case ROUND_BFLOAT16 -> HalfRounding.toBfloat16(x);
            case SIGMOID -> sigmoid(x);
            case TANH -> (float) Math.tanh(x);
            case ERF -> (float) ErrorFunction.of(x);
            case ERFC -> (float) ErrorFunction.complementOf(x);
            case ELU -> x < 0 ? (float) Math.expm1(x) : x;
            case HARD_SWISH -> x * Math.min(6f, Math.max(0f, x + 3)) / 6;
            case LOGICAL_NOT -> throw new IllegalArgumentException("logical_not of float32");
        };
    }

    /** Integers, infinities and NaN are unchanged. */
    private static float roundedAway(float x) {
        float below = (float) Math.floor(Math.abs(x));
        return Math.copySign(Math.abs(x) - below >= 0.5f ? below + 1 : below, x);
    }

    /** reference/logistic.h. */
    public static float sigmoid(float x) {
        if (x > LOGISTIC_ONE) {
            return 1;
        }
        return x < LOGISTIC_EXP ? (float) Math.exp(x) : 1 / (1 + (float) Math.exp(-x));
    }

    private static Tensor reals(List<Tensor> args, TensorType type, Real function) {
        float[] data = args.get(0).floats();
        return Tensor.ofReals(type, i -> function.of(data[i]));
    }

    private static Tensor integers(List<Tensor> args, TensorType type, IntUnaryOperator function) {
        int[] data = args.get(0).ints();
        return Tensor.ofInts(type, i -> function.applyAsInt(data[i]));
    }
}
