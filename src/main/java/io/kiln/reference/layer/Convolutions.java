// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Tensor;
import java.util.List;

/** Convolutions. Taps in the padding add nothing, because padding has the value of the zero point. */
final class Convolutions {
    private Convolutions() {}

    /** Computes the pixels of one window for all output channels; tap ranges are those inside the data. */
    private interface Pixel {
        void compute(int n, int top, int left, int[] rows, int[] columns, int out);
    }

    static Tensor quantized(QnnConv2d op, List<Tensor> args, TensorType type) {
        if (type.dtype().isFloat()) {
            Conv2d conv = new Conv2d(op.window(), op.groups(), op.channels(), op.kernelLayout());
            boolean depthwise = op.isDepthwise(args.get(0).shape().dim(3));
            return real(conv, List.of(args.get(0), Weights.real(args, op.channels(), depthwise)), type);
        }
        Geometry g = Geometry.of(op.window(), args.get(0).shape(), type.shape());
        Weights weights = Weights.of(g, op.groups(), args.get(1).shape(), op.isDepthwise(g.in().channels()));
        int[] data = centred(args.get(0).ints(), args.get(2).scalarInt());
        int[] kernel = centred(args.get(1).ints(), args.get(3).scalarInt());
        long[] result = new long[(int) type.shape().elements()];
        forEachPixel(g, (n, top, left, rows, columns, out) -> {
            for (int o = 0; o < g.out().channels(); o++) {
                long sum = 0;
                for (int kh = rows[0]; kh < rows[1]; kh++) {
                    for (int kw = columns[0]; kw < columns[1]; kw++) {
                        int from = g.input(
                                        n,
                                        top + kh * g.window().dilationH(),
                                        left + kw * g.window().dilationW())
                                + weights.firstInput(o);
                        int at = weights.index(o, kh, kw);
                        for (int c = 0; c < weights.depth(); c++) {
                            sum += (long) data[from + c] * kernel[at + c];
                        }
                    }
                }
                result[out + o] = sum;
            }
        });
        return Tensor.ofSums(type, result);
    }

    static Tensor real(Conv2d op, List<Tensor> args, TensorType type) {
        Geometry g = Geometry.of(op.window(), args.get(0).shape(), type.shape());
        Weights weights = Weights.of(g, op.groups(), args.get(1).shape(), op.isDepthwise(g.in().channels()));
        float[] data = args.get(0).floats();
        float[] kernel = args.get(1).floats();
        float[] result = new float[(int) type.shape().elements()];
        forEachPixel(g, (n, top, left, rows, columns, out) -> {
            for (int o = 0; o < g.out().channels(); o++) {
                float sum = 0;
                for (int kh = rows[0]; kh < rows[1]; kh++) {
                    for (int kw = columns[0]; kw < columns[1]; kw++) {
                        int from = g.input(
                                        n,
                                        top + kh * g.window().dilationH(),
                                        left + kw * g.window().dilationW())
                                + weights.firstInput(o);
                        int at = weights.index(o, kh, kw);
                        for (int c = 0; c < weights.depth(); c++) {
                            sum += data[from + c] * kernel[at + c];
                        }
                    }
                }
                result[out + o] = sum;
            }
        });
        return Tensor.of(type, result);
    }

    private static void forEachPixel(Geometry g, Pixel pixel) {
        int[] rows = new int[2];
        int[] columns = new int[2];
        for (int n = 0; n < g.batch(); n++) {
            for (int y = 0; y < g.out().rows(); y++) {
                int top = g.top(y);
                rows[0] = Geometry.firstTap(top, g.window().dilationH());
                rows[1] =
                        Geometry.lastTap(top, g.window().dilationH(), g.window().kernelH(), g.in().rows());
                for (int x = 0; x < g.out().columns(); x++) {
                    int left = g.left(x);
                    columns[0] = Geometry.firstTap(left, g.window().dilationW());
                    columns[1] = Geometry.lastTap(
                            left, g.window().dilationW(), g.window().kernelW(), g.in().columns());
                    pixel.compute(n, top, left, rows, columns, g.output(n, y, x));
                }
            }
        }
    }

    private static int[] centred(int[] values, int zeroPoint) {
        int[] centred = new int[values.length];
        for (int i = 0; i < values.length; i++) {
            centred[i] = values[i] - zeroPoint;
        }
        return centred;
    }
}
