// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.arith.InverseSquareRoot;
import io.kiln.ir.arith.TflInt16Softmax;
import io.kiln.ir.arith.TflInt16Softmax.Int16SoftmaxTables;
import io.kiln.ir.arith.TflNormalization;
import io.kiln.ir.arith.TflSoftmaxTables;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.TflNormalize;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Tensor;
import java.util.Arrays;
import java.util.List;

/** Softmax and fixed-point normalizations of int8, along the last axis. */
public final class Normalizations {
    private Normalizations() {}

    public static Tensor normalize(TflNormalize op, List<Tensor> args, TensorType type) {
        int[] data = args.get(0).ints();
        int[] result = new int[data.length];
        int depth = type.shape().dim(-1);
        if (op.kind() == TflNormalize.Kind.LOG_SOFTMAX) {
            float scale = args.get(1).scalarFloat();
            int[] differences = TflNormalization.differences(scale);
            int[] terms = TflNormalization.terms(scale);
            for (int row = 0; row < data.length; row += depth) {
                logSoftmax(data, result, row, row + depth, differences, terms);
            }
        } else {
            int zeroPoint = args.get(2).ints()[0];
            for (int row = 0; row < data.length; row += depth) {
                l2(data, result, row, row + depth, zeroPoint);
            }
        }
        return Tensor.of(type, result);
    }

    private static void logSoftmax(int[] data, int[] result, int from, int to, int[] differences, int[] terms) {
        int max = data[from];
        for (int i = from; i < to; i++) {
            max = Math.max(max, data[i]);
        }
        int sum = 0;
        for (int i = from; i < to; i++) {
            sum += terms[max - data[i]];
        }
        int logarithm = TflNormalization.logarithm(sum);
        for (int i = from; i < to; i++) {
            result[i] = TflNormalization.logProbability(differences[max - data[i]], logarithm);
        }
    }

    private static void l2(int[] data, int[] result, int from, int to, int zeroPoint) {
        int sum = 0;
        for (int i = from; i < to; i++) {
            sum += (data[i] - zeroPoint) * (data[i] - zeroPoint);
        }
        QuantizedMultiplier inverse = InverseSquareRoot.of(sum);
        for (int i = from; i < to; i++) {
            result[i] = TflNormalization.normalized(data[i] - zeroPoint, inverse);
        }
    }

    static Tensor real(Softmax op, List<Tensor> args, TensorType type) {
        float[] data = args.get(0).floats();
        float[] result = new float[data.length];
        int depth = type.shape().dim(-1);
        for (int row = 0; row < data.length; row += depth) {
            float max = -Float.MAX_VALUE;
            for (int i = row; i < row + depth; i++) {
                max = Math.max(max, data[i]);
            }
            float sum = 0;
            for (int i = row; i < row + depth; i++) {
                result[i] = (float) StrictMath.exp((data[i] - max) * op.beta());
                sum += result[i];
            }
            for (int i = row; i < row + depth; i++) {
                result[i] /= sum;
            }
        }
        return Tensor.of(type, result);
    }

    static Tensor quantized(TflSoftmax op, List<Tensor> args, TensorType type) {
        int[] data = args.get(0).ints();
        if (args.get(0).type().dtype() == DType.INT16) {
            return wide(op, data, args.get(1).scalarFloat(), type);
        }
        int[] exponentials =
                TflSoftmaxTables.exponentials(op.beta(), args.get(1).scalarFloat());
        int[] result = new int[data.length];
        int depth = type.shape().dim(-1);
        for (int row = 0; row < data.length; row += depth) {
            quantizedRow(data, result, row, row + depth, exponentials, type.dtype());
        }
        return Tensor.of(type, result);
    }

    private static Tensor wide(TflSoftmax op, int[] data, float scale, TensorType type) {
        QuantizedMultiplier by = TflInt16Softmax.multiplier(op.beta(), scale);
        int[] result = new int[data.length];
        int depth = type.shape().dim(-1);
        for (int row = 0; row < data.length; row += depth) {
            int max = Arrays.stream(data, row, row + depth).max().orElseThrow();
            int sum = 0;
            for (int i = row; i < row + depth; i++) {
                result[i] = TflInt16Softmax.exponential(data[i] - max, by);
                sum += result[i];
            }
            int reciprocal = TflInt16Softmax.reciprocal(sum, Int16SoftmaxTables.of(op.tables()));
            for (int i = row; i < row + depth; i++) {
                result[i] = TflInt16Softmax.result(result[i], reciprocal, sum);
            }
        }
        return Tensor.of(type, result);
    }

    private static void quantizedRow(int[] data, int[] result, int from, int to, int[] exponentials, DType dtype) {
        int max = data[from];
        for (int i = from; i < to; i++) {
            max = Math.max(max, data[i]);
        }
        int sum = 0;
        for (int i = from; i < to; i++) {
            sum += TflSoftmaxTables.term(exponentials[max - data[i]]);
        }
        int scale = TflSoftmaxTables.reciprocal(sum);
        int shift = TflSoftmaxTables.outputShift(sum, 8 * dtype.bytes());
        for (int i = from; i < to; i++) {
            int product = FixedPoint.saturatingRoundingDoublingHighMul(scale, exponentials[max - data[i]]);
            long value = FixedPoint.roundingDivideByPot(product, shift) + dtype.min();
            result[i] = FixedPoint.clamp(value, dtype.min(), dtype.max());
        }
    }
}
