// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.Conv2dTranspose;
import io.kiln.ir.op.layer.QnnConv2dTranspose;
import io.kiln.ir.op.layer.TransposedWindow;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Tensor;
import java.util.List;

/** Transposed convolutions: every input pixel is added to the outputs that its window covers. */
final class TransposedConvolutions {
    private TransposedConvolutions() {}

    /** Adds an input pixel to an output pixel through one tap of the kernels; positions of their first channels. */
    private interface Tap {
        void add(int input, int output, int tap);
    }

    static Tensor quantized(QnnConv2dTranspose op, List<Tensor> args, TensorType type) {
        int[] data = args.get(0).ints();
        int[] weights = args.get(1).ints();
        int dataZero = args.get(2).scalarInt();
        int weightZero = args.get(3).scalarInt();
        int depth = args.get(0).shape().dim(3);
        int kernel = args.get(1).ints().length / op.channels();
        long[] result = new long[(int) type.shape().elements()];
        forEachTap(op.window(), args.get(0).shape(), type.shape(), (in, out, tap) -> {
            for (int o = 0; o < op.channels(); o++) {
                for (int c = 0; c < depth; c++) {
                    result[out + o] +=
                            (long) (data[in + c] - dataZero) * (weights[o * kernel + tap * depth + c] - weightZero);
                }
            }
        });
        return Tensor.ofSums(type, result);
    }

    /** Sums in double precision, so that the order, which differs between implementations, does not matter. */
    static Tensor real(Conv2dTranspose op, List<Tensor> args, TensorType type) {
        float[] data = args.get(0).floats();
        float[] weights = args.get(1).floats();
        int depth = args.get(0).shape().dim(3);
        int kernel = weights.length / op.channels();
        double[] sums = new double[(int) type.shape().elements()];
        forEachTap(op.window(), args.get(0).shape(), type.shape(), (in, out, tap) -> {
            for (int o = 0; o < op.channels(); o++) {
                for (int c = 0; c < depth; c++) {
                    sums[out + o] += data[in + c] * weights[o * kernel + tap * depth + c];
                }
            }
        });
        float[] result = new float[sums.length];
        for (int i = 0; i < result.length; i++) {
            result[i] = (float) sums[i];
        }
        return Tensor.of(type, result);
    }

    private static void forEachTap(TransposedWindow window, Shape in, Shape out, Tap tap) {
        Window w = window.window();
        for (int n = 0; n < in.dim(0); n++) {
            for (int y = 0; y < in.dim(1); y++) {
                for (int x = 0; x < in.dim(2); x++) {
                    int input = ((n * in.dim(1) + y) * in.dim(2) + x) * in.dim(3);
                    for (int k = 0; k < w.kernelH() * w.kernelW(); k++) {
                        int row = y * w.strideH() - w.padTop() + k / w.kernelW();
                        int column = x * w.strideW() - w.padLeft() + k % w.kernelW();
                        if (row >= 0 && row < out.dim(1) && column >= 0 && column < out.dim(2)) {
                            tap.add(input, ((n * out.dim(1) + row) * out.dim(2) + column) * out.dim(3), k);
                        }
                    }
                }
            }
        }
    }
}
