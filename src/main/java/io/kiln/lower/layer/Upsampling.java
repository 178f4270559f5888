// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;

import io.kiln.base.Bytes;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.Arrays;

/**
 * A transposed convolution expressed as an ordinary one: output row {@code y} is computed at position {@code (y +
 * padTop) / strideH} of a convolution of stride 1 whose kernel depends on the phase, {@code (y + padTop) % strideH};
 * columns likewise.
 *
 * <p>Tap {@code t} of {@code T} of phase {@code p} is tap {@code p + (T - 1 - t) * stride} of the transposed kernel, or 0 beyond it, and reads
 * row {@code position - (T - 1) + t}.
 *
 * @param strideH phases of the rows
 * @param strideW phases of the columns
 * @param padTop rows cropped above
 * @param padLeft columns cropped to the left
 */
public record Upsampling(int strideH, int strideW, int padTop, int padLeft) {
    /** The upsampling of an ordinary convolution: a single phase. */
    static final Upsampling NONE = new Upsampling(1, 1, 0, 0);

    static Upsampling of(Window transposed) {
        return new Upsampling(transposed.strideH(), transposed.strideW(), transposed.padTop(), transposed.padLeft());
    }

    /** Number of phases, each with a kernel of its own. */
    public int phases() {
        return strideH * strideW;
    }

    public Expr row(Expr y) {
        return Exprs.div(add(y, padTop), imm(strideH));
    }

    public Expr column(Expr x) {
        return Exprs.div(add(x, padLeft), imm(strideW));
    }

    /** Number of the kernel for an output pixel. */
    public Expr phase(Expr y, Expr x) {
        return add(
                Exprs.mul(Exprs.mod(add(y, padTop), imm(strideH)), strideW), Exprs.mod(add(x, padLeft), imm(strideW)));
    }

    /** The window at a position, padded on every side: positions can lie beyond the input. */
    Window window(Window transposed) {
        int h = (transposed.kernelH() + strideH - 1) / strideH;
        int w = (transposed.kernelW() + strideW - 1) / strideW;
        return Window.of(h, w).padded(h - 1, w - 1, h, w);
    }

    /**
     * Taps without the one that fills up the kernel of a phase. Floats need that: 0 times infinity is NaN.
     *
     * @param name of the axis
     * @param position row or column of the output, counted with those that are cropped
     * @param stride phases of the axis
     * @param kernel taps of the transposed kernel
     */
    public static TapRange unfilled(
            BlockBuilder block, String name, TapRange taps, Expr position, int stride, int kernel) {
        if (kernel % stride == 0) {
            return taps;
        }
        Expr isWhole = Exprs.lt(Exprs.mod(position, imm(stride)), imm(kernel % stride));
        Expr first = Exprs.max(taps.begin(), Exprs.select(isWhole, imm(0), imm(1)));
        Expr begin = block.let("k" + name + "_first", Exprs.min(block.let("k" + name + "_own", first), taps.end()));
        return new TapRange(taps.origin(), begin, taps.end(), taps.taps());
    }

    /**
     * The kernels of all phases, one after another, each OHWI.
     *
     * @param weight the transposed kernel, OHWI
     * @param zeroPoint what stands for 0
     */
    Constant kernels(Constant weight, Window transposed, int zeroPoint) {
        Window w = window(transposed);
        Shape shape = weight.type().shape();
        int channels = shape.dim(0);
        int pixel = shape.dim(3) * weight.type().dtype().bytes();
        byte[] from = weight.data().toArray();
        byte[] to = new byte[phases() * channels * w.kernelH() * w.kernelW() * pixel];
        Arrays.fill(to, (byte) zeroPoint);
        for (int o = 0; o < channels; o++) {
            for (int ky = 0; ky < transposed.kernelH(); ky++) {
                for (int kx = 0; kx < transposed.kernelW(); kx++) {
                    int phase = ky % strideH * strideW + kx % strideW;
                    int row = w.kernelH() - 1 - ky / strideH;
                    int column = w.kernelW() - 1 - kx / strideW;
                    int target = ((phase * channels + o) * w.kernelH() + row) * w.kernelW() + column;
                    int source = (o * transposed.kernelH() + ky) * transposed.kernelW() + kx;
                    System.arraycopy(from, source * pixel, to, target * pixel, pixel);
                }
            }
        }
        Shape all = Shape.of(phases() * channels, w.kernelH(), w.kernelW(), shape.dim(3));
        return new Constant(weight.name(), new TensorType(all, weight.type().dtype()), Bytes.wrap(to));
    }
}
