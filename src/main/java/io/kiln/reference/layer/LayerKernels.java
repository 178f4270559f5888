// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import static io.kiln.reference.kernel.OperatorKernel.pure;

import io.kiln.base.DType;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.OnnxRequantize;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.element.TflRealRequantize;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.BlockDense;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.OnnxLayers.OnnxAveragePool;
import io.kiln.ir.op.layer.OnnxLayers.OnnxResize2d;
import io.kiln.ir.op.layer.OnnxLayers.OnnxSoftmax;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.ir.op.layer.TransposedConvolutions.Conv2dTranspose;
import io.kiln.ir.op.layer.TransposedConvolutions.QnnConv2dTranspose;
import io.kiln.ir.op.layer.TransposedConvolutions.TransposedWindow;
import io.kiln.ir.op.layer.TreeEnsemble;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.element.Elementwise;
import io.kiln.reference.element.Rescaling;
import io.kiln.reference.kernel.OperatorKernel;
import io.kiln.reference.kernel.Tensor;
import io.kiln.reference.layer.LayerKernels.Geometry.Weights;
import io.kiln.reference.layer.OnnxLayers.TreeKernel;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Kernels of the layers of convolutional networks. Taps in the padding add nothing, because padding has the value of the zero point; a
 * transposed convolution adds every input pixel to the outputs that its window covers.
 */
public final class LayerKernels {
    public static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            pure(Conv2d.class, LayerKernels::real),
            pure(QnnConv2d.class, LayerKernels::quantized),
            pure(Conv2dTranspose.class, LayerKernels::realTransposed),
            pure(QnnConv2dTranspose.class, LayerKernels::quantizedTransposed),
            pure(Dense.class, LayerKernels::realDense),
            pure(QnnDense.class, LayerKernels::quantizedDense),
            pure(BlockDense.class, LayerKernels::blocks),
            pure(BiasAdd.class, Elementwise::biasAdd),
            pure(Clip.class, Elementwise::clip),
            pure(QnnAdd.class, Elementwise::addQuantized),
            pure(AvgPool2d.class, LayerKernels::average),
            pure(MaxPool2d.class, LayerKernels::maximum),
            pure(Softmax.class, Normalizations::real),
            pure(TflSoftmax.class, Normalizations::quantized),
            pure(TreeEnsemble.class, TreeKernel::run),
            pure(OnnxSoftmax.class, OnnxLayers::softmax),
            pure(OnnxAveragePool.class, OnnxLayers::average),
            pure(OnnxResize2d.class, OnnxLayers::resize),
            pure(QnnQuantize.class, Rescaling::quantize),
            pure(QnnDequantize.class, Rescaling::dequantize),
            pure(TflRequantize.class, Rescaling::requantize),
            pure(QnnRequantize.class, Rescaling::requantizeOnce),
            pure(OnnxRequantize.class, Rescaling::requantizeWithBias),
            pure(TflRealRequantize.class, Rescaling::requantizeReal),
            pure(Reshape.class, (op, args, type) -> args.get(0).reshaped(type)),
            pure(Copy.class, (op, args, type) -> args.get(0)));

    private LayerKernels() {}

    /** Adds the products of one tap of a window, {@code depth} of them from these places of data and weights on, to one element of the result. */
    private interface TapProducts {
        void accumulate(int from, int at, int to);
    }

    private static Tensor quantized(QnnConv2d op, List<Tensor> args, TensorType type) {
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
        forEachTap(g, weights, (from, at, to) -> {
            long sum = result[to];
            for (int c = 0; c < weights.depth(); c++) {
                sum += (long) data[from + c] * kernel[at + c];
            }
            result[to] = sum;
        });
        return Tensor.ofSums(type, result);
    }

    private static Tensor real(Conv2d op, List<Tensor> args, TensorType type) {
        Geometry g = Geometry.of(op.window(), args.get(0).shape(), type.shape());
        Weights weights = Weights.of(g, op.groups(), args.get(1).shape(), op.isDepthwise(g.in().channels()));
        float[] data = args.get(0).floats();
        float[] kernel = args.get(1).floats();
        float[] result = new float[(int) type.shape().elements()];
        forEachTap(g, weights, (from, at, to) -> {
            float sum = result[to];
            for (int c = 0; c < weights.depth(); c++) {
                sum += data[from + c] * kernel[at + c];
            }
            result[to] = sum;
        });
        return Tensor.of(type, result);
    }

    /** Visits the taps of each window that are inside the data, by rows, for all output channels. */
    private static void forEachTap(Geometry g, Weights weights, TapProducts products) {
        Window window = g.window();
        for (int n = 0; n < g.batch(); n++) {
            for (int y = 0; y < g.out().rows(); y++) {
                int top = g.top(y);
                int firstRow = Geometry.firstTap(top, window.dilationH());
                int lastRow = Geometry.lastTap(top, window.dilationH(), window.kernelH(), g.in().rows());
                for (int x = 0; x < g.out().columns(); x++) {
                    int left = g.left(x);
                    int firstColumn = Geometry.firstTap(left, window.dilationW());
                    int lastColumn = Geometry.lastTap(left, window.dilationW(), window.kernelW(), g.in().columns());
                    int out = g.output(n, y, x);
                    for (int o = 0; o < g.out().channels(); o++) {
                        for (int kh = firstRow; kh < lastRow; kh++) {
                            for (int kw = firstColumn; kw < lastColumn; kw++) {
                                int from = g.input(n, top + kh * window.dilationH(), left + kw * window.dilationW());
                                products.accumulate(from + weights.firstInput(o), weights.index(o, kh, kw), out + o);
                            }
                        }
                    }
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

    private static Tensor quantizedDense(QnnDense op, List<Tensor> args, TensorType type) {
        if (type.dtype().isFloat()) {
            return realDense(new Dense(op.units()), List.of(args.get(0), Weights.real(args, op.units(), false)), type);
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

    private static Tensor realDense(Dense op, List<Tensor> args, TensorType type) {
        float[] data = args.get(0).floats();
        float[] weights = args.get(1).floats();
        int depth = args.get(1).shape().dim(1);
        return Tensor.ofReals(type, i -> {
            int row = i / op.units() * depth;
            int unit = i % op.units() * depth;
            float sum = 0;
            for (int c = 0; c < depth; c++) {
                sum += data[row + c] * weights[unit + c];
            }
            return sum;
        });
    }

    /** A sum of products for each block, and then its scale. */
    private static Tensor blocks(BlockDense op, List<Tensor> args, TensorType type) {
        float[] data = args.get(0).floats();
        int[] weights = args.get(1).ints();
        float[] scales = args.get(2).floats();
        float[] zeroPoints = args.get(3).floats();
        int depth = args.get(1).shape().dim(1);
        int blocks = op.blocks(depth);
        return Tensor.ofReals(type, i -> {
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
            return sum;
        });
    }

    /** Adds an input pixel to an output pixel through one tap of the kernels; positions of their first channels. */
    private interface Tap {
        void add(int input, int output, int tap);
    }

    private static Tensor quantizedTransposed(QnnConv2dTranspose op, List<Tensor> args, TensorType type) {
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
    private static Tensor realTransposed(Conv2dTranspose op, List<Tensor> args, TensorType type) {
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
        return Tensor.ofReals(type, i -> (float) sums[i]);
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

    /** Takes the places in the data that lie under the window of one element of the result. */
    interface Reduction {
        /** The first {@code count} places count. */
        void reduce(int[] places, int count, int result);
    }

    private static Tensor average(AvgPool2d op, List<Tensor> args, TensorType type) {
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
    private static Tensor maximum(MaxPool2d op, List<Tensor> args, TensorType type) {
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
}
