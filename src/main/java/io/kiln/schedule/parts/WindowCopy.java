// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.lt;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.ir.op.Window;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapRange;
import io.kiln.schedule.space.ConvTask;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Copies the window of a pixel to scratch, {@code [ky][kx][channel]}; taps outside the input hold its zero point.
 * Alternatively adds the inputs, times a factor, to {@link #clear cleared} scratch, so that a word can hold several
 * pixels.
 */
public final class WindowCopy {
    /** For taller windows compilers keep the addresses of all rows on the stack, unless they are apart by a constant. */
    private static final int MOST_WHOLE_ROWS = 4;

    /** The same where the rows are apart by a constant. */
    private static final int MOST_ADJACENT_ROWS = 16;

    /** Multiply-accumulates of a pixel that take about as long as gathering its inputs. */
    private static final int FEW_MACS = 100;

    private final ConvComputation conv;
    private final Buffer input;
    private final Buffer scratch;
    /** Separate code for windows inside the input; empty if size is optimized. */
    private final Optional<WordMoves> moves;

    private final boolean isSameForAll;

    /** A copy to scratch; optimized for size, the same code for all windows, unless copies take as long as multiply-accumulates. */
    public WindowCopy(ConvTask task, Buffer input, Buffer scratch) {
        this.conv = task.conv();
        this.input = input;
        this.scratch = scratch;
        this.isSameForAll = task.isForSize() && (long) conv.taps() * conv.channels() > FEW_MACS;
        int most = task.workload().rows().areContiguous() ? MOST_ADJACENT_ROWS : MOST_WHOLE_ROWS;
        boolean copiesWhole = !isSameForAll && conv.window().kernelH() <= most;
        this.moves = copiesWhole ? Optional.of(WordMoves.of(task.features())) : Optional.empty();
    }

    /** Emits the copy of the window of pixel (y, x) to an offset in scratch. */
    public void emit(BlockBuilder block, Rows rows, Expr n, Expr y, Expr x, Expr to) {
        TapRange ky = TapRange.of(block, "y", y, TapRange.Axis.rows(conv.window(), conv.input()));
        TapRange kx = TapRange.of(block, "x", x, TapRange.Axis.columns(conv.window(), conv.input()));
        TapRange[] ranges = {ky, kx};
        Consumer<BlockBuilder> fill = b -> b.loop(
                "z", conv.taps(), (element, z) -> element.store(scratch, add(to, z), imm(conv.inputZeroPoint())));
        Consumer<BlockBuilder> inside =
                b -> elements(b, rows, n, ranges, to, (e, target, i, value) -> e.store(target, i, value));
        if (!conv.window().isPadded()) {
            moves.ifPresentOrElse(m -> whole(block, m, rows, n, ranges, to), () -> inside.accept(block));
            return;
        }
        if (isSameForAll) {
            // Checking whether the window is clipped costs more code than filling costs time.
            fill.andThen(inside).accept(block);
            return;
        }
        int taps = conv.window().kernelH() * conv.window().kernelW();
        Expr isCut = lt(mul(ky.count(), kx.count()), imm(taps));
        if (moves.isPresent()) {
            block.ifThenElse(isCut, fill.andThen(inside), b -> whole(b, moves.orElseThrow(), rows, n, ranges, to));
        } else {
            block.ifThen(isCut, fill);
            inside.accept(block);
        }
    }

    /** Whether the taps of a row are not adjacent in the input. */
    private boolean isDilated() {
        return conv.window().dilationW() > 1 && conv.window().kernelW() > 1;
    }

    /** A window without padding: as many elements of each row, or of each tap if the width is dilated. */
    private void whole(BlockBuilder block, WordMoves whole, Rows rows, Expr n, TapRange[] taps, Expr to) {
        Window w = conv.window();
        int channels = conv.input().dim(3);
        int count = w.kernelW() * channels;
        block.loop("k", w.kernelH(), (row, k) -> {
            Expr y = add(taps[0].origin(), mul(k, w.dilationH()));
            Expr line = add(mul(n, conv.input().dim(1)), rows.inputLine(0, y));
            Expr first = add(mul(line, conv.input().dim(2)), taps[1].origin());
            Buffer from = row.view("from", input, mul(first, channels));
            Buffer target = row.mutableView("target", scratch, add(to, mul(k, count)));
            if (!isDilated()) {
                whole.copyUnaligned(row, target, from, count);
                return;
            }
            row.loop("kx", w.kernelW(), (tap, kx) -> {
                Buffer one = tap.view("tap", from, mul(kx, (long) w.dilationW() * channels));
                whole.copyUnaligned(tap, tap.mutableView("copy", target, mul(kx, channels)), one, channels);
            });
        });
    }

    /** Emits the addition of the window of pixel (y, x), times a factor. */
    public void accumulate(BlockBuilder block, Rows rows, Expr n, Expr y, Expr x, Expr factor) {
        TapRange ky = TapRange.of(block, "y", y, TapRange.Axis.rows(conv.window(), conv.input()));
        TapRange kx = TapRange.of(block, "x", x, TapRange.Axis.columns(conv.window(), conv.input()));
        elements(block, rows, n, new TapRange[] {ky, kx}, imm(0), (b, target, e, value) -> {
            Expr difference = sub(value, imm(conv.inputZeroPoint()));
            b.store(target, e, add(load(target, e), mul(difference, factor)));
        });
    }

    /** Emits the filling of scratch with zero points times a factor. */
    public void clear(BlockBuilder block, long factor) {
        block.loop("z", conv.taps(), (element, z) -> element.store(scratch, z, imm(conv.inputZeroPoint() * factor)));
    }

    /** Puts one input into scratch. */
    private interface Put {
        void emit(BlockBuilder block, Buffer target, Expr index, Expr value);
    }

    private void elements(BlockBuilder block, Rows rows, Expr n, TapRange[] taps, Expr to, Put put) {
        Window w = conv.window();
        TapRange ky = taps[0];
        TapRange kx = taps[1];
        ky.loop(block, "ky", (row, k) -> {
            Expr line = add(mul(n, conv.input().dim(1)), rows.inputLine(0, add(ky.origin(), mul(k, w.dilationH()))));
            Expr first = add(mul(line, conv.input().dim(2)), add(kx.origin(), kx.begin()));
            int channels = conv.input().dim(3);
            if (isDilated()) {
                kx.loop(row, "kx", (tap, j) -> {
                    Expr pixel = add(mul(line, conv.input().dim(2)), add(kx.origin(), mul(j, w.dilationW())));
                    Expr at = mul(add(mul(k, w.kernelW()), j), channels);
                    run(tap, mul(pixel, channels), add(to, at), imm(channels), put);
                });
                return;
            }
            Expr place = mul(add(mul(k, w.kernelW()), kx.begin()), channels);
            run(row, mul(first, channels), add(to, place), mul(kx.count(), channels), put);
        });
    }

    /** Elements that are adjacent in the input. */
    private void run(BlockBuilder block, Expr first, Expr to, Expr count, Put put) {
        Buffer from = block.view("from", input, first);
        Buffer target = block.mutableView("target", scratch, to);
        block.loop("e", imm(0), count, (element, e) -> put.emit(element, target, e, load(from, e)));
    }
}
