// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Tensor;
import java.util.List;

/** Sizes of NHWC data under a window, and which taps of the window lie inside the data. */
record Geometry(Window window, int batch, Image in, Image out) {
    /** Sizes of one image. */
    record Image(int rows, int columns, int channels) {
        static Image of(Shape shape) {
            return new Image(shape.dim(1), shape.dim(2), shape.dim(3));
        }

        /** Index of the first channel of a pixel of the n-th image. */
        int pixel(int n, int row, int column) {
            return ((n * rows + row) * columns + column) * channels;
        }
    }

    static Geometry of(Window window, Shape data, Shape output) {
        return new Geometry(window, data.dim(0), Image.of(data), Image.of(output));
    }

    /** First input row of an output row's window; may lie in the padding. */
    int top(int row) {
        return row * window.strideH() - window.padTop();
    }

    int left(int column) {
        return column * window.strideW() - window.padLeft();
    }

    /** First tap at or after the data's edge. */
    static int firstTap(int origin, int dilation) {
        return origin >= 0 ? 0 : (-origin + dilation - 1) / dilation;
    }

    /** One past the last tap inside the data. */
    static int lastTap(int origin, int dilation, int kernel, int size) {
        return size <= origin ? 0 : Math.min(kernel, (size - origin + dilation - 1) / dilation);
    }

    /** Index of the first channel of a pixel. */
    int input(int n, int row, int column) {
        return in.pixel(n, row, column);
    }

    int output(int n, int row, int column) {
        return out.pixel(n, row, column);
    }

    /**
     * Layout of weights. Both layouts keep the channels of a tap together, and a depthwise output channel has one input
     * channel.
     *
     * @param depth input channels per output channel
     * @param inputStep output channels that share their input channels
     */
    record Weights(boolean depthwise, int outC, int kernelH, int kernelW, int depth, int inputStep) {
        static Weights of(Geometry g, int groups, Shape shape, boolean depthwise) {
            int depth = depthwise ? 1 : shape.dim(3);
            return new Weights(
                    depthwise,
                    g.out().channels(),
                    g.window().kernelH(),
                    g.window().kernelW(),
                    depth,
                    g.out().channels() / groups);
        }

        int index(int o, int kh, int kw) {
            return depthwise ? (kh * kernelW + kw) * outC + o : ((o * kernelH + kh) * kernelW + kw) * depth;
        }

        int firstInput(int o) {
            return o / inputStep * depth;
        }

        /** A layer's weights as real values, in the same layout; arguments as those of {@code qnn.conv2d}. */
        static Tensor real(List<Tensor> args, int channels, boolean depthwise) {
            int[] weights = args.get(1).ints();
            int zeroPoint = args.get(3).scalarInt();
            float[] scales = args.get(5).floats();
            int perChannel = weights.length / channels;
            return Tensor.ofReals(new TensorType(args.get(1).shape(), DType.FLOAT32), i -> {
                int channel = depthwise ? i % channels : i / perChannel;
                return scales[scales.length == 1 ? 0 : channel] * (weights[i] - zeroPoint);
            });
        }
    }
}
