// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dot;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.ir.op.Window;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.BiasTable;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapRange;
import io.kiln.schedule.parts.Interior;
import io.kiln.schedule.parts.PaddedRows;
import io.kiln.schedule.parts.WordMoves;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Convolution of int16 or float data by a micro-kernel for dot products, {@link DotKernel}: some neighbouring pixels
 * times a block of output channels, one run of taps that are adjacent in the input at a time.
 *
 * <pre>
 * weights: see {@link DotWeights}
 * memory: scratch for the sums between the runs of a window; rows of the input with their padding, where a kernel takes whole runs only
 * </pre>
 *
 * <p>Sums of int16 data that may exceed 32 bits are accumulated in 64 as often as necessary: after a part of a run, or
 * at the end.
 */
final class DotConv {
    private final ConvComputation conv;
    private final DotKernel kernel;
    private final int pixels;
    private final Buffer input;
    private final DotWeights weights;
    private final DotSums sums;
    private final Optional<PaddedRows> padded;

    /**
     * Makes tables and reserves scratch.
     *
     * @param pixels largest number of pixels computed together
     */
    DotConv(ConvTask task, DotKernel kernel, int pixels) {
        this.conv = task.conv();
        this.kernel = kernel;
        this.pixels = pixels;
        this.input = task.buffers().argument(0);
        this.weights = DotWeights.of(conv, kernel, task.tables());
        this.sums = new DotSums(task, kernel, pixels, bias(task, kernel), weights.isFlushed());
        this.padded = isCopied(conv, kernel)
                ? Optional.of(new PaddedRows(
                        conv,
                        input,
                        task.buffers().scratch(conv.dataType(), PaddedRows.elements(conv)),
                        WordMoves.of(task.features())))
                : Optional.empty();
    }

    /** The loops. */
    LayerLoops loops(ConvTask task) {
        long macs = padded.isPresent() ? task.workload().macs() : conv.macsInside();
        return new LayerLoops(body(task.rows()), macs);
    }

    private static BiasTable bias(ConvTask task, DotKernel kernel) {
        return isCopied(task.conv(), kernel)
                ? BiasTable.ofFilled(task.conv(), task.tables())
                : BiasTable.of(task.conv(), task.tables());
    }

    /**
     * Whether rows are copied with their padding; otherwise runs are clipped at the input's border, as those of a transposed convolution, in
     * which most of a window may lie beside the input.
     */
    static boolean isCopied(ConvComputation conv, DotKernel kernel) {
        return conv.window().isPadded() && kernel.step() > 1 && !conv.isTransposed();
    }

    private Stmt body(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        padded.ifPresent(p -> p.fillSides(body));
        body.loop(
                "n",
                conv.output().dim(0),
                (batch, n) -> batch.loop(
                        "y",
                        rows.firstLine(conv.output()),
                        rows.endLine(conv.output()),
                        1,
                        (row, y) -> row(row, rows, n, y)));
        return body.build();
    }

    private void row(BlockBuilder row, Rows rows, Expr n, Expr y) {
        padded.ifPresent(p -> p.copy(row, rows, n, y));
        TapRange ky = padded.isPresent() ? allRows() : clippedRows(row, y);
        row.loop("phase", conv.upsampling().strideW(), (line, phase) -> {
            line(line, new DotLine(conv, rows, n, y, ky, phase));
        });
    }

    private TapRange allRows() {
        int taps = conv.window().kernelH();
        return new TapRange(imm(0), imm(0), imm(taps), taps);
    }

    private TapRange clippedRows(BlockBuilder row, Expr y) {
        Expr position =
                conv.isTransposed() ? row.let("position_y", conv.upsampling().row(y)) : y;
        return TapRange.of(row, "y", position, TapRange.Axis.rows(conv.window(), conv.input()));
    }

    /** Positions with whole windows are computed together, others one by one. */
    private void line(BlockBuilder block, DotLine line) {
        Interior interior = padded.isPresent() ? new Interior(0, conv.output().dim(2)) : Interior.of(conv);
        Expr begin = block.let("begin", line.begin());
        Expr end = block.let("end", line.end());
        Expr first = block.let("first_whole", Exprs.min(Exprs.max(begin, imm(interior.begin())), end));
        Expr last = block.let("end_whole", Exprs.max(first, Exprs.min(end, imm(interior.end()))));
        Expr together = add(first, mul(Exprs.div(sub(last, first), imm(pixels)), pixels));
        Expr single = pixels > 1 ? block.let("single", together) : last;
        boolean isClipped = padded.isEmpty() && conv.window().isPadded();
        block.loop("x", begin, first, 1, (b, x) -> edge(b, line, x));
        block.loop("x", first, single, pixels, (b, x) -> whole(b, line, x, pixels));
        if (isClipped && kernel.step() == 1) {
            block.loop("x", single, end, 1, (b, x) -> edge(b, line, x));
            return;
        }
        block.loop("x", single, last, 1, (b, x) -> whole(b, line, x, 1));
        block.loop("x", last, end, 1, (b, x) -> edge(b, line, x));
    }

    /** Pixels at neighbouring positions, with the window's columns inside the input of the first. */
    private record Pixels(DotLine line, Expr x, int count, TapRange kx) {}

    private void edge(BlockBuilder block, DotLine line, Expr x) {
        TapRange kx = TapRange.of(block, "x", x, TapRange.Axis.columns(conv.window(), conv.input()));
        block(block, new Pixels(line, x, 1, kx));
    }

    private void whole(BlockBuilder block, DotLine line, Expr x, int count) {
        Window w = conv.window();
        int left = padded.isPresent() ? 0 : w.padLeft();
        Expr origin = sub(mul(x, w.strideW()), imm(left));
        block(block, new Pixels(line, x, count, new TapRange(origin, imm(0), imm(w.kernelW()), w.kernelW())));
    }

    private void block(BlockBuilder block, Pixels at) {
        Expr out = block.let("pixel", at.line.output(at.x));
        int step = kernel.channels();
        int whole = conv.channels() / step * step;
        block.loop(
                "oc", imm(0), imm(whole), step, (inner, oc) -> channels(inner, at, new Block(oc, step, kernel), out));
        int rest = conv.channels() - whole;
        block.loop("oc", imm(whole), imm(conv.channels()), step, (inner, oc) -> {
            channels(inner, at, new Block(oc, rest, kernel.of(rest)), out);
        });
    }

    /**
     * A block of channels.
     *
     * @param first channel
     * @param valid number of channels that exist
     */
    private record Block(Expr first, int valid, DotKernel kernel) {}

    private void channels(BlockBuilder block, Pixels at, Block channels, Expr out) {
        sums.start(block, at.count, channels.first, channels.valid);
        if (isWhole(at)) {
            window(block, at, channels);
        } else {
            block.loop("ky", at.line.ky().begin(), at.line.ky().end(), 1, (b, ky) -> row(b, at, channels, ky));
        }
        sums.store(block, at.count, channels.first, channels.valid, out);
    }

    /** A row of the window: a run, or one for each of its pixels. */
    private void row(BlockBuilder block, Pixels at, Block channels, Expr ky) {
        Window w = conv.window();
        int cin = conv.channelsPerGroup();
        boolean isSplit = weights.isSplit();
        if (!isSplit && (kernel.step() == 1 || isAll(at.kx.count(), w.kernelW()))) {
            Run run = new Run(ky, at.kx.begin(), mul(at.kx.count(), cin));
            Expr begin = mul(at.kx.begin(), weights.offset(cin));
            run(block, at, run, add(weights.at(kernel(at, channels), ky), begin), channels);
            return;
        }
        block.loop("kx", at.kx.begin(), at.kx.end(), 1, (tap, kx) -> {
            Expr oc = kernel(at, channels);
            Expr weight = isSplit
                    ? weights.at(oc, add(mul(ky, w.kernelW()), kx))
                    : add(weights.at(oc, ky), mul(kx, weights.offset(cin)));
            run(tap, at, new Run(ky, kx, imm(cin)), weight, channels);
        });
    }

    /** First channel of a block, counted through the kernels of all phases. */
    private Expr kernel(Pixels at, Block channels) {
        return add(mul(at.line.kernel(), weights.channelsOfPhase()), channels.first);
    }

    /** Whether a single call computes the window: none of it is outside the input. */
    private boolean isWhole(Pixels at) {
        Window w = conv.window();
        return kernel.takesWindows()
                && !weights.isSplit()
                && !weights.isFlushed()
                && at.line.rows().areContiguous()
                && runs().areNear()
                && isAll(at.line.ky().count(), w.kernelH())
                && isAll(at.kx.count(), w.kernelW());
    }

    private static boolean isAll(Expr count, int all) {
        return count instanceof Expr.IntImm known && known.value() == all;
    }

    private DotKernel.Runs runs() {
        Window w = conv.window();
        int row = padded.isPresent()
                ? Math.toIntExact(PaddedRows.rowElements(conv))
                : w.dilationH() * conv.input().dim(2) * conv.input().dim(3);
        return new DotKernel.Runs(w.kernelH(), weights.taps(), row);
    }

    private void window(BlockBuilder block, Pixels at, Block channels) {
        Expr first = block.let("first", first(at, new Run(imm(0), at.kx.begin(), imm(0))));
        Buffer w = block.view("w", weights.table(), weights.at(kernel(at, channels), imm(0)));
        channels.kernel.call(block, inputs(block, at, first), w, sums.buffer(), runs());
    }

    /**
     * Adjacent taps.
     *
     * @param ky their row of the window
     * @param kx their first column
     */
    private record Run(Expr ky, Expr kx, Expr taps) {}

    private void run(BlockBuilder block, Pixels at, Run run, Expr weight, Block channels) {
        Expr first = block.let("first", first(at, run));
        if (!weights.isFlushed()) {
            call(block, at, first, weight, run.taps, channels);
            return;
        }
        for (int tap = 0; tap < weights.taps(); tap += weights.part()) {
            BlockBuilder part = new BlockBuilder();
            int count = Math.min(weights.part(), weights.taps() - tap);
            call(part, at, add(first, tap), add(weight, weights.offset(tap)), imm(count), channels);
            sums.flush(part, at.count);
            block.add(part.build());
        }
    }

    /** Position of a run's first tap in the input of the first pixel. */
    private Expr first(Pixels at, Run run) {
        Expr column = add(at.kx.origin(), mul(run.kx, conv.window().dilationW()));
        return mul(add(rowStart(at.line, run.ky), column), conv.channelsPerGroup());
    }

    /** Pixels before those under a row of the window. */
    private Expr rowStart(DotLine line, Expr ky) {
        if (padded.isPresent()) {
            return mul(ky, PaddedRows.rowElements(conv) / conv.input().dim(3));
        }
        Expr row = line.rows()
                .inputLine(0, add(line.ky().origin(), mul(ky, conv.window().dilationH())));
        return mul(add(mul(line.n(), conv.input().dim(1)), row), conv.input().dim(2));
    }

    private List<Buffer> inputs(BlockBuilder block, Pixels at, Expr first) {
        List<Buffer> inputs = new ArrayList<>();
        for (int p = 0; p < at.count; p++) {
            long step = (long) p * conv.window().strideW() * conv.channelsPerGroup();
            inputs.add(block.view("in" + p, padded.map(PaddedRows::scratch).orElse(input), add(first, step)));
        }
        return inputs;
    }

    private void call(BlockBuilder block, Pixels at, Expr first, Expr weight, Expr taps, Block channels) {
        List<Buffer> inputs = inputs(block, at, first);
        channels.kernel.call(block, inputs, block.view("w", weights.table(), weight), sums.buffer(), taps);
    }
}
