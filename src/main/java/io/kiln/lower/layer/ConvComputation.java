// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.lower.FusedOperator;
import java.util.Optional;

/**
 * The computation of a convolution or fully connected layer, independent of the schedule: a fully connected layer is a
 * 1x1 convolution over an image one row high whose columns are the batch.
 *
 * @param op the fused operator
 * @param window geometry
 * @param extent the images
 * @param grouping which inputs an output channel reads
 * @param kernels the kernels
 * @param upsampling how outputs lie to the window's positions; more than one phase for a transposed convolution, whose kernels
 *     follow each other as output channels do
 * @param proofs the cache of what schedules compute and prove for it
 */
public record ConvComputation(
        FusedOperator op,
        Window window,
        Extent extent,
        Grouping grouping,
        Kernels kernels,
        Upsampling upsampling,
        LayerProofs proofs) {
    /**
     * The images before and behind the layer.
     *
     * @param input NHWC dimensions of the input
     * @param output NHWC dimensions of the output
     */
    record Extent(Shape input, Shape output) {}

    /**
     * Which inputs an output channel reads.
     *
     * @param groups 1 for a dense convolution
     * @param depthwise whether the weight lies as HWOI
     */
    record Grouping(int groups, boolean depthwise) {}

    /**
     * The kernels, and the zero points that are subtracted from the factors of a product.
     *
     * @param weight the kernels
     * @param inputZeroPoint zero point of the data, 0 for float
     * @param zeroPoint zero point of the weight, 0 for float, and where the weights less it are int8
     */
    record Kernels(Constant weight, int inputZeroPoint, int zeroPoint) {}

    /** Analyses a fused operator whose root is a convolution or dense layer. */
    public static ConvComputation of(FusedOperator op) {
        LayerGeometry layer = LayerGeometry.of(op);
        Kernel kernel = Kernel.of(op);
        Upsampling upsampling = layer.isTransposed() ? Upsampling.of(layer.window()) : Upsampling.NONE;
        Constant weight = layer.isTransposed()
                ? upsampling.kernels(kernel.weight, layer.window(), kernel.zeroPoint)
                : kernel.weight;
        boolean isFloat = kernel.weight.type().dtype().isFloat();
        return new ConvComputation(
                op,
                layer.isTransposed() ? upsampling.window(layer.window()) : layer.window(),
                new Extent(layer.input(), layer.output()),
                new Grouping(layer.groups(), layer.isDepthwise()),
                new Kernels(weight, isFloat ? 0 : zeroPoint(op, Layer.INPUT_ZERO_POINT), kernel.zeroPoint),
                upsampling,
                new LayerProofs());
    }

    /** NHWC dimensions of the input. */
    public Shape input() {
        return extent.input;
    }

    /** NHWC dimensions of the output. */
    public Shape output() {
        return extent.output;
    }

    /** Groups of channels; 1 for a dense convolution. */
    public int groups() {
        return grouping.groups;
    }

    /** Whether the weight lies as HWOI. */
    public boolean depthwise() {
        return grouping.depthwise;
    }

    /** Whether it is depthwise with a single output channel of each input channel. */
    public boolean isOneToOne() {
        return grouping.depthwise && channels() == extent.input.dim(3);
    }

    /** Whether every output reads the whole input: a dense layer, or a convolution whose window is as large as its input. */
    public boolean isDense() {
        return window.kernelH() == extent.input.dim(1)
                && window.kernelW() == extent.input.dim(2)
                && !window.isPadded()
                && grouping.groups == 1
                && !grouping.depthwise;
    }

    /** Whether a pixel of the output reads only the pixel at the same position. */
    public boolean isFlat() {
        return window.kernelH() == 1
                && window.kernelW() == 1
                && window.strideH() == 1
                && window.strideW() == 1
                && !window.isPadded();
    }

    /** The weights of the kernels. */
    public Constant weight() {
        return kernels.weight;
    }

    /** Zero point of the data, 0 for float. */
    public int inputZeroPoint() {
        return kernels.inputZeroPoint;
    }

    /** Zero point of the weight, 0 for float, and where the weights less it are int8. */
    public int kernelZeroPoint() {
        return kernels.zeroPoint;
    }

    /** Weights and their zero point, which is 0 wherever the weights less it are int8 too. */
    private record Kernel(Constant weight, int zeroPoint) {
        static Kernel of(FusedOperator op) {
            Constant weight = op.root().constant(1);
            int zeroPoint =
                    weight.type().dtype().isFloat() ? 0 : ConvComputation.zeroPoint(op, Layer.KERNEL_ZERO_POINT);
            byte[] centred = weight.data().toArray();
            for (int i = 0; i < centred.length && zeroPoint != 0; i++) {
                int value = centred[i] - zeroPoint;
                if (value != (byte) value) {
                    return new Kernel(weight, zeroPoint);
                }
                centred[i] = (byte) value;
            }
            return zeroPoint == 0
                    ? new Kernel(weight, 0)
                    : new Kernel(new Constant(weight.name(), weight.type(), Bytes.wrap(centred)), 0);
        }
    }

    public boolean isTransposed() {
        return op.root().op() instanceof Layer layer && layer.isTransposed();
    }

    /** Rows of the kernel as the model has it. */
    public int transposedKernelH() {
        return LayerGeometry.of(op).window().kernelH();
    }

    /** Columns of the kernel as the model has it. */
    public int transposedKernelW() {
        return LayerGeometry.of(op).window().kernelW();
    }

    private static int zeroPoint(FusedOperator op, int argument) {
        return (int) op.root().constant(argument).integer(0);
    }

    /** Whether accumulators are float32, even if the weights are int8. */
    public boolean isFloat() {
        return dataType().isFloat();
    }

    /** Element type of the input. */
    public DType dataType() {
        return op.rootTypes().get(0).dtype();
    }

    /** Remaining factors of float accumulators over int8 weights: one element, or one per output channel. */
    Optional<Constant> weightScale() {
        return op.sumScale();
    }

    /** Remaining factor of float accumulators over int8 weights for an output channel; 1 if there is none. */
    float weightScale(int o) {
        return weightScale().map(s -> s.real(s.elements() == 1 ? 0 : o)).orElse(1f);
    }

    public int channels() {
        return extent.output.dim(3);
    }

    /** Input channels that one output channel reads. */
    public int channelsPerGroup() {
        return grouping.depthwise ? 1 : extent.input.dim(3) / grouping.groups;
    }

    /** Products that one output element accumulates, padding included. */
    public int taps() {
        return window.kernelH() * window.kernelW() * channelsPerGroup();
    }

    /** Weight minus its zero point, of output channel {@code o} at tap (ky, kx) and input channel c of its group. */
    public int tap(int o, int ky, int kx, int c) {
        return (int) weight().integer(weightIndex(o, ky, kx, c)) - kernelZeroPoint();
    }

    /** All {@link #tap}s of an output channel in the order of the window, at once: they are read often, and there are many. */
    public int[] taps(int o) {
        int[] taps = new int[taps()];
        int first = weightIndex(o, 0);
        int step = step();
        for (int i = 0; i < taps.length; i++) {
            taps[i] = (int) kernels.weight.integer(first + i * step) - kernels.zeroPoint;
        }
        return taps;
    }

    /** The same of weights of float32. */
    public float[] realTaps(int o) {
        float[] taps = new float[taps()];
        int first = weightIndex(o, 0);
        int step = step();
        for (int i = 0; i < taps.length; i++) {
            taps[i] = kernels.weight.real(first + i * step);
        }
        return taps;
    }

    /** Position of a weight in the constant, counted in the order of the window. */
    public int weightIndex(int o, int tap) {
        return (grouping.depthwise ? o : o * taps()) + tap * step();
    }

    /** How far apart an output channel's weights are. */
    private int step() {
        return grouping.depthwise ? channels() : 1;
    }

    /** Position of a weight in the constant. */
    public int weightIndex(int o, int ky, int kx, int c) {
        return weightIndex(o, (ky * window.kernelW() + kx) * channelsPerGroup() + c);
    }

    /** Multiply-accumulates inside the input; of a transposed convolution, with the zeros that fill up its kernels. */
    public long macsInside() {
        if (isTransposed()) {
            Upsampling u = upsampling;
            long rows = spread(extent.output.dim(1), u.strideH(), u.padTop(), window.kernelH(), extent.input.dim(1));
            long columns =
                    spread(extent.output.dim(2), u.strideW(), u.padLeft(), window.kernelW(), extent.input.dim(2));
            return (long) extent.output.dim(0) * rows * columns * channelsPerGroup() * channels();
        }
        long rows = inside(
                extent.output.dim(1),
                window.strideH(),
                window.padTop(),
                window.dilationH(),
                window.kernelH(),
                extent.input.dim(1));
        long columns = inside(
                extent.output.dim(2),
                window.strideW(),
                window.padLeft(),
                window.dilationW(),
                window.kernelW(),
                extent.input.dim(2));
        return (long) extent.output.dim(0) * rows * columns * channelsPerGroup() * channels();
    }

    private static long spread(int outputs, int stride, int padding, int taps, int inputs) {
        long count = 0;
        for (int o = 0; o < outputs; o++) {
            int last = (o + padding) / stride;
            count += Math.max(0, Math.min(last, inputs - 1) - Math.max(last - taps + 1, 0) + 1);
        }
        return count;
    }

    private static long inside(int outputs, int stride, int padding, int dilation, int taps, int inputs) {
        long count = 0;
        for (int o = 0; o < outputs; o++) {
            for (int k = 0; k < taps; k++) {
                int position = o * stride - padding + k * dilation;
                count += position >= 0 && position < inputs ? 1 : 0;
            }
        }
        return count;
    }
}
