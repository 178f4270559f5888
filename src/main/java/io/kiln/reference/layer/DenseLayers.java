// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import io.kiln.ir.op.layer.BlockDense;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Tensor;
import java.util.List;

/** Fully connected layers. */
final class DenseLayers {
    private DenseLayers() {}

    static Tensor quantized(QnnDense op, List<Tensor> args, TensorType type) {
        if (type.dtype().isFloat()) {
            return real(new Dense(op.units()), List.of(args.get(0), Weights.real(args, op.units(), false)), type);
        }
        int[] data = args.get(0).ints();
        int[] weights = args.get(1).ints();
        int dataZero = args.get(2).scalarInt();
        int weightZero = args.get(3).scalarInt();
        int depth = args.get(1).shape().dim(1);
        long[] result = new long[(int) type.shape().elements()];
        for (int i = 0; i < result.length; i++) {
            int row = i / op.units() * depth;
            int unit = i % op.units() * depth;
            long sum = 0;
            for (int c = 0; c < depth; c++) {
                sum += (long) (data[row + c] - dataZero) * (weights[unit + c] - weightZero);
            }
            result[i] = sum;
        }
        return Tensor.ofSums(type, result);
    }

    static Tensor real(Dense op, List<Tensor> args, TensorType type) {
        float[] data = args.get(0).floats();
        float[] weights = args.get(1).floats();
        int depth = args.get(1).shape().dim(1);
        float[] result = new float[(int) type.shape().elements()];
        for (int i = 0; i < result.length; i++) {
            int row = i / op.units() * depth;
            int unit = i % op.units() * depth;
            float sum = 0;
            for (int c = 0; c < depth; c++) {
                sum += data[row + c] * weights[unit + c];
            }
            result[i] = sum;
        }
        return Tensor.of(type, result);
    }

    /** A sum of products for each block, and then its scale. */
    static Tensor blocks(BlockDense op, List<Tensor> args, TensorType type) {
        float[] data = args.get(0).floats();
        int[] weights = args.get(1).ints();
        float[] scales = args.get(2).floats();
        float[] zeroPoints = args.get(3).floats();
        int depth = args.get(1).shape().dim(1);
        int blocks = op.blocks(depth);
        float[] result = new float[(int) type.shape().elements()];
        for (int i = 0; i < result.length; i++) {
            int row = i / op.units() * depth;
            int unit = i % op.units();
            float sum = 0;
            for (int b = 0; b < blocks; b++) {
                float ofBlock = 0;
                float zeroPoint = zeroPoints[unit * blocks + b];
                for (int c = b * op.block(); c < Math.min(depth, (b + 1) * op.block()); c++) {
                    ofBlock += data[row + c] * (weights[unit * depth + c] - zeroPoint);
                }
                sum += ofBlock * scales[unit * blocks + b];
            }
            result[i] = sum;
        }
        return Tensor.of(type, result);
    }
}
