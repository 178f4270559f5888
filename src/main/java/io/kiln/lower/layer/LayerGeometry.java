// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.div;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.max;
import static io.kiln.tir.Exprs.min;
import static io.kiln.tir.Exprs.mod;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.lower.FusedOperator;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Expr;
import java.util.function.UnaryOperator;

/**
 * The elements of data and weights that each output element of a convolution or fully connected layer reads. The latter
 * is a 1x1 convolution over an image one row high whose columns are the batch.
 *
 * @param window kernel, strides and padding; for a transposed convolution those of {@link
 * io.kiln.ir.op.layer.TransposedConvolutions.TransposedWindow}
 * @param isTransposed whether the strides are the output's
 * @param input NHWC dimensions
 * @param output NHWC dimensions
 * @param groups 1 for a dense convolution
 * @param isDepthwise whether the weights' layout is HWOI instead of OHWI
 */
record LayerGeometry(Window window, boolean isTransposed, Shape input, Shape output, int groups, boolean isDepthwise) {
    /**
     * The taps along one axis that lie inside the input, counted from a first one.
     *
     * @param begin the first
     * @param end after the last
     * @param kernel kernel position of a tap
     * @param input input position of a tap
     */
    record Taps(Expr begin, Expr end, UnaryOperator<Expr> kernel, UnaryOperator<Expr> input) {}

    /** Reads a fused operator whose root is a convolution or dense layer. */
    static LayerGeometry of(FusedOperator op) {
        if (!(op.root().op() instanceof Layer layer)) {
            throw new IllegalArgumentException(op.op() + " is neither convolution nor dense layer");
        }
        Shape in = layer.image(op.rootTypes().get(0).shape());
        return new LayerGeometry(
                layer.geometry(),
                layer.isTransposed(),
                in,
                layer.image(op.type().shape()),
                layer.groups(),
                layer.isDepthwise(in.dim(3)));
    }

    int channels() {
        return output.dim(3);
    }

    int kernelW() {
        return window.kernelW();
    }

    /** Input channels that one output channel reads. */
    int depth() {
        return isDepthwise ? 1 : input.dim(3) / groups;
    }

    /** Largest number of products in one output element. */
    long taps() {
        return (long) window.kernelH() * window.kernelW() * depth();
    }

    /** The first input channel that an output channel reads. */
    Expr firstInput(Expr o) {
        return groups == 1 ? imm(0) : mul(div(o, imm(channels() / groups)), depth());
    }

    /** Position of the first weight of an output channel at a tap, counted through the kernel. */
    Expr firstWeight(Expr o, Expr tap) {
        return isDepthwise
                ? add(mul(tap, channels()), o)
                : mul(add(mul(o, (long) window.kernelH() * window.kernelW()), tap), depth());
    }

    /** The taps of an output row. */
    Taps rows(BlockBuilder block, Expr y) {
        return isTransposed
                ? transposed(block, "y", add(y, window.padTop()), window.strideH(), window.kernelH(), input.dim(1))
                : inside(TapRange.of(block, "y", y, TapRange.Axis.rows(window, input)), window.dilationH());
    }

    /** The taps of an output column. */
    Taps columns(BlockBuilder block, Expr x) {
        return isTransposed
                ? transposed(block, "x", add(x, window.padLeft()), window.strideW(), window.kernelW(), input.dim(2))
                : inside(TapRange.of(block, "x", x, TapRange.Axis.columns(window, input)), window.dilationW());
    }

    private static Taps inside(TapRange range, int dilation) {
        return new Taps(range.begin(), range.end(), k -> k, k -> add(range.origin(), mul(k, dilation)));
    }

    /** Every stride-th tap, from the one that the position leaves over: tap {@code k} reads input {@code (position - k) / stride}. */
    private static Taps transposed(BlockBuilder block, String axis, Expr position, int stride, int kernel, int inputs) {
        Expr last = block.let("last_" + axis, div(position, imm(stride)));
        Expr first = block.let("first_" + axis, mod(position, imm(stride)));
        Expr begin = block.let("k" + axis + "_begin", max(sub(last, imm(inputs - 1)), imm(0)));
        Expr taps = block.let("k" + axis + "_taps", div(sub(imm(kernel + stride - 1), first), imm(stride)));
        Expr end = block.let("k" + axis + "_end", min(add(last, imm(1)), taps));
        return new Taps(begin, end, j -> add(first, mul(j, stride)), j -> sub(last, j));
    }
}
