// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Tensor;
import java.util.Arrays;
import java.util.List;

/** Pools over windows, without the padding. */
final class Pools {
    private Pools() {}

    /** Takes the places in the data that lie under the window of one element of the result. */
    @FunctionalInterface
    interface Reduction {
        /** The first {@code count} places count. */
        void reduce(int[] places, int count, int result);
    }

    static Tensor average(AvgPool2d op, List<Tensor> args, TensorType type) {
        int size = (int) type.shape().elements();
        if (type.dtype().isFloat()) {
            float[] data = args.get(0).floats();
            float[] result = new float[size];
            reduce(op.window(), args.get(0), type, (places, count, at) -> result[at] = mean(data, places, count));
            return Tensor.of(type, result);
        }
        int[] data = args.get(0).ints();
        int[] result = new int[size];
        reduce(op.window(), args.get(0), type, (places, count, at) -> {
            long sum = 0;
            for (int i = 0; i < count; i++) {
                sum += data[places[i]];
            }
            result[at] = mean(sum, count, op.rounding());
        });
        return Tensor.of(type, result);
    }

    private static float mean(float[] data, int[] places, int count) {
        float sum = 0;
        for (int i = 0; i < count; i++) {
            sum += data[places[i]];
        }
        return sum / count;
    }

    /** Rounds halves away from zero or up, or truncates. */
    private static int mean(long sum, int count, Rounding rounding) {
        int half = rounding == Rounding.TRUNCATE ? 0 : count / 2;
        return (int)
                (rounding == Rounding.UPWARD
                        ? Math.floorDiv(sum + half, count)
                        : (sum > 0 ? sum + half : sum - half) / count);
    }

    /** NaN does not count; without a number the result is infinite. */
    static Tensor maximum(MaxPool2d op, List<Tensor> args, TensorType type) {
        int size = (int) type.shape().elements();
        if (type.dtype().isFloat()) {
            float[] data = args.get(0).floats();
            float[] result = new float[size];
            Arrays.fill(result, Float.NEGATIVE_INFINITY);
            reduce(op.window(), args.get(0), type, (places, count, at) -> {
                for (int i = 0; i < count; i++) {
                    result[at] = data[places[i]] > result[at] ? data[places[i]] : result[at];
                }
            });
            return Tensor.of(type, result);
        }
        int[] data = args.get(0).ints();
        int[] result = new int[size];
        Arrays.fill(result, Integer.MIN_VALUE);
        reduce(op.window(), args.get(0), type, (places, count, at) -> {
            for (int i = 0; i < count; i++) {
                result[at] = Math.max(result[at], data[places[i]]);
            }
        });
        return Tensor.of(type, result);
    }

    static void reduce(Window window, Tensor data, TensorType type, Reduction reduction) {
        Geometry g = Geometry.of(window, data.shape(), type.shape());
        int[] pixels =
                new int[Math.min(window.kernelH(), g.in().rows()) * Math.min(window.kernelW(), g.in().columns())];
        int[] places = new int[pixels.length];
        for (int n = 0; n < g.batch(); n++) {
            for (int y = 0; y < g.out().rows(); y++) {
                for (int x = 0; x < g.out().columns(); x++) {
                    int count = pixels(g, n, y, x, pixels);
                    for (int c = 0; c < g.out().channels(); c++) {
                        for (int i = 0; i < count; i++) {
                            places[i] = pixels[i] + c;
                        }
                        reduction.reduce(places, count, g.output(n, y, x) + c);
                    }
                }
            }
        }
    }

    /** Places of the pixels under a window, and how many there are. */
    private static int pixels(Geometry g, int n, int y, int x, int[] places) {
        Window w = g.window();
        int top = g.top(y);
        int left = g.left(x);
        int lastRow = Geometry.lastTap(top, w.dilationH(), w.kernelH(), g.in().rows());
        int lastColumn = Geometry.lastTap(left, w.dilationW(), w.kernelW(), g.in().columns());
        int count = 0;
        for (int kh = Geometry.firstTap(top, w.dilationH()); kh < lastRow; kh++) {
            for (int kw = Geometry.firstTap(left, w.dilationW()); kw < lastColumn; kw++) {
                places[count++] = g.input(n, top + kh * w.dilationH(), left + kw * w.dilationW());
            }
        }
        return count;
    }
}
