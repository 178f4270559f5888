// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;

/**
 * The taps of a window along one axis that lie inside the input: tap k in {@code [begin, end)} reads position
 * {@code origin + k * dilation}.
 *
 * @param origin position of tap 0; may lie before the input
 * @param begin first tap inside
 * @param end tap after the last one inside
 * @param taps all taps of the window
 */
public record TapRange(Expr origin, Expr begin, Expr end, int taps) {

    /** One axis of a window over an input. */
    public record Axis(int taps, int stride, int dilation, int padding, int size, boolean padded) {
        public static Axis rows(Window w, Shape input) {
            return new Axis(
                    w.kernelH(), w.strideH(), w.dilationH(), w.padTop(), input.dim(1), w.padTop() + w.padBottom() > 0);
        }

        public static Axis columns(Window w, Shape input) {
            return new Axis(
                    w.kernelW(), w.strideW(), w.dilationW(), w.padLeft(), input.dim(2), w.padLeft() + w.padRight() > 0);
        }
    }

    /** Emits the code that computes the range for an output position. */
    public static TapRange of(BlockBuilder block, String name, Expr position, Axis axis) {
        Expr origin = block.let("origin_" + name, sub(mul(position, axis.stride()), imm(axis.padding())));
        if (!axis.padded()) {
            return new TapRange(origin, imm(0), imm(axis.taps()), axis.taps());
        }
        int d = axis.dilation();
        Expr before = Exprs.div(sub(imm(d - 1), origin), imm(d));
        Expr fitting = Exprs.div(sub(imm(axis.size() + d - 1), origin), imm(d));
        Expr last = add(origin, (long) (axis.taps() - 1) * d);
        Expr begin = Exprs.select(Exprs.lt(origin, imm(0)), before, imm(0));
        Expr end = Exprs.select(Exprs.lt(last, imm(axis.size())), imm(axis.taps()), fitting);
        return new TapRange(
                origin, block.let("k" + name + "_begin", begin), block.let("k" + name + "_end", end), axis.taps());
    }

    /** Whether no tap can ever fall outside. */
    public boolean isWhole() {
        return end instanceof Expr.IntImm;
    }

    /** Number of taps inside. */
    public Expr count() {
        return sub(end, begin);
    }

    /** A condition that holds where no tap falls outside. */
    public Expr isWholeAtRunTime() {
        return Exprs.equal(count(), imm(taps));
    }
}
