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
 * {@code origin + k * dilation}. {@code 0 <= begin <= end <= taps}, even if the whole window lies outside.
 *
 * @param origin position of tap 0; may lie before the input
 * @param begin first tap inside
 * @param end tap after the last one inside
 * @param taps all taps of the window
 */
public record TapRange(Expr origin, Expr begin, Expr end, int taps) {

    /**
     * One axis of a window over an input.
     *
     * @param padding positions before the input
     * @param after positions behind it
     */
    public record Axis(int taps, int stride, int dilation, int padding, int after, int size) {
        public static Axis rows(Window w, Shape input) {
            return new Axis(w.kernelH(), w.strideH(), w.dilationH(), w.padTop(), w.padBottom(), input.dim(1));
        }

        public static Axis columns(Window w, Shape input) {
            return new Axis(w.kernelW(), w.strideW(), w.dilationW(), w.padLeft(), w.padRight(), input.dim(2));
        }

        /** Whether a tap may lie outside. */
        public boolean isPadded() {
            return padding + after > 0;
        }

        /** Whether a window may lie so far before the input that its first tap inside would be numbered above the last tap. */
        private boolean passesBefore() {
            return padding > taps * dilation;
        }

        /** Whether a window may lie so far behind the input that its last tap inside would have a negative number. */
        private boolean passesBehind() {
            return after >= (taps + 1) * dilation;
        }
    }

    /** Emits the code that computes the range for an output position. */
    public static TapRange of(BlockBuilder block, String name, Expr position, Axis axis) {
        Expr origin = block.let("origin_" + name, sub(mul(position, axis.stride()), imm(axis.padding())));
        if (!axis.isPadded()) {
            return new TapRange(origin, imm(0), imm(axis.taps()), axis.taps());
        }
        int d = axis.dilation();
        Expr before = Exprs.div(sub(imm(d - 1), origin), imm(d));
        Expr fitting = Exprs.div(sub(imm(axis.size() + d - 1), origin), imm(d));
        if (axis.passesBefore()) {
            before = Exprs.min(before, imm(axis.taps()));
        }
        if (axis.passesBehind()) {
            fitting = Exprs.max(fitting, imm(0));
        }
        Expr last = add(origin, (long) (axis.taps() - 1) * d);
        Expr begin = Exprs.select(Exprs.lt(origin, imm(0)), before, imm(0));
        Expr end = Exprs.select(Exprs.lt(last, imm(axis.size())), imm(axis.taps()), fitting);
        return new TapRange(
                origin, block.let("k" + name + "_begin", begin), block.let("k" + name + "_end", end), axis.taps());
    }

    /** Emits a loop over the taps inside. */
    public void loop(BlockBuilder block, String name, BlockBuilder.LoopBody body) {
        block.loop(name, begin, end, body);
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
