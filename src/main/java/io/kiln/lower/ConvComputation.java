// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.ir.Constant;
import io.kiln.ir.op.Conv2d;
import io.kiln.ir.op.Dense;
import io.kiln.ir.op.QnnConv2d;
import io.kiln.ir.op.QnnDense;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;

/**
 * What a convolution or fully connected layer computes, free of how: a fully connected layer is a 1x1 convolution over
 * an image one row high whose columns are the batch.
 *
 * @param op the fused operator
 * @param window geometry
 * @param input NHWC dimensions of the input
 * @param output NHWC dimensions of the output
 * @param groups 1 for a dense convolution
 * @param depthwise whether the weight lies as HWOI
 * @param weight the kernels
 * @param inputZeroPoint zero point of the data, 0 for float
 * @param kernelZeroPoint zero point of the weight, 0 for float
 */
public record ConvComputation(
        FusedOperator op,
        Window window,
        Shape input,
        Shape output,
        int groups,
        boolean depthwise,
        Constant weight,
        int inputZeroPoint,
        int kernelZeroPoint) {

    /** Reads a fused operator whose root is a convolution or dense layer. */
    public static ConvComputation of(FusedOperator op) {
        Constant weight = op.root().constant(1);
        Shape in = op.rootTypes().get(0).shape();
        if (op.root().op() instanceof QnnConv2d conv) {
            return new ConvComputation(
                    op,
                    conv.window(),
                    in,
                    op.type().shape(),
                    conv.groups(),
                    conv.isDepthwise(in.dim(3)),
                    weight,
                    zeroPoint(op, 2),
                    zeroPoint(op, 3));
        }
        if (op.root().op() instanceof Conv2d conv) {
            return new ConvComputation(
                    op, conv.window(), in, op.type().shape(), conv.groups(), conv.isDepthwise(in.dim(3)), weight, 0, 0);
        }
        boolean quantized = op.root().op() instanceof QnnDense;
        if (!quantized && !(op.root().op() instanceof Dense)) {
            throw new IllegalArgumentException(op.op() + " is neither convolution nor dense layer");
        }
        Shape kernel = weight.type().shape();
        return new ConvComputation(
                op,
                new Window(1, 1, 1, 1, 1, 1, 0, 0, 0, 0),
                Shape.of(1, 1, in.dim(0), in.dim(1)),
                Shape.of(1, 1, in.dim(0), kernel.dim(0)),
                1,
                false,
                weight,
                quantized ? zeroPoint(op, 2) : 0,
                quantized ? zeroPoint(op, 3) : 0);
    }

    private static int zeroPoint(FusedOperator op, int argument) {
        return (int) op.root().constant(argument).integer(0);
    }

    public boolean isFloat() {
        return weight.type().dtype().isFloat();
    }

    public int channels() {
        return output.dim(3);
    }

    /** Input channels that one output channel reads. */
    public int channelsPerGroup() {
        return depthwise ? 1 : input.dim(3) / groups;
    }

    /** Products that one output element sums, padding included. */
    public int taps() {
        return window.kernelH() * window.kernelW() * channelsPerGroup();
    }

    /** Weight minus its zero point, of output channel {@code o} at tap (ky, kx) and input channel c of its group. */
    public int tap(int o, int ky, int kx, int c) {
        return (int) weight.integer(weightIndex(o, ky, kx, c)) - kernelZeroPoint;
    }

    /** Position of a weight in the constant. */
    public int weightIndex(int o, int ky, int kx, int c) {
        int pixel = ky * window.kernelW() + kx;
        return depthwise
                ? pixel * channels() + o
                : (o * window.kernelH() * window.kernelW() + pixel) * channelsPerGroup() + c;
    }

    /** Multiply-accumulates inside the input. */
    public long macsInside() {
        long rows = inside(
                output.dim(1), window.strideH(), window.padTop(), window.dilationH(), window.kernelH(), input.dim(1));
        long columns = inside(
                output.dim(2), window.strideW(), window.padLeft(), window.dilationW(), window.kernelW(), input.dim(2));
        return (long) output.dim(0) * rows * columns * channelsPerGroup() * channels();
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
