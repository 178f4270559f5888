// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.arith.InverseSquareRoot;
import io.kiln.ir.arith.TflNormalization;
import io.kiln.ir.op.layer.TflNormalize;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Tensor;
import java.util.List;

/** Fixed-point normalizations of int8 along the last axis. */
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
}
