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
import io.kiln.tir.Kernel;
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
    /** Pixels at one side of a row whose code is printed one by one. */
    private static final int MOST_EDGES = 2;

    private final ConvComputation conv;
    private final DotKernel kernel;
    private final int pixels;
    private final Buffer input;
    private final DotWeights weights;
    private final DotSums sums;
    private final Optional<PaddedRows> padded;
    private final boolean isWhole;
    private final Optional<MveFloatWindows> windows;

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
        this.padded = isCopied(conv, kernel)
                ? Optional.of(new PaddedRows(
                        conv,
                        input,
                        task.buffers().scratch(conv.dataType(), PaddedRows.elements(conv)),
                        WordMoves.of(task.features())))
                : Optional.empty();
        this.isWhole = isWhole(task.rows());
        this.sums = new DotSums(task, kernel, pixels, bias(task, kernel), weights.isFlushed(), isEnding());
        this.windows = MveFloatWindows.of(
                        conv,
                        kernel,
                        new MveFloatWindows.Tables(weights, sums.biases()),
                        input,
                        task.buffers().output())
                .filter(w -> w.canRead(task.rows()));
    }

    /** The loops. */
    LayerLoops loops(ConvTask task) {
        return new LayerLoops(body(task.rows()), task.workload().macs());
    }

    private static BiasTable bias(ConvTask task, DotKernel kernel) {
        return isCopied(task.conv(), kernel)
                ? BiasTable.ofFilled(task.conv(), task.tables())
                : BiasTable.of(task.conv(), task.tables());
    }

    /** Whether rows are copied with their padding; otherwise runs are clipped at the input's border. */
    static boolean isCopied(ConvComputation conv, DotKernel kernel) {
        return conv.window().isPadded() && kernel.step() > 1;
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

    /** A row of the output: pixels with whole runs are computed together, others one by one. */
    private void row(BlockBuilder row, Rows rows, Expr n, Expr y) {
        padded.ifPresent(p -> p.copy(row, rows, n, y));
        TapRange ky = padded.isPresent()
                ? new TapRange(
                        imm(0),
                        imm(0),
                        imm(conv.window().kernelH()),
                        conv.window().kernelH())
                : TapRange.of(row, "y", y, TapRange.Axis.rows(conv.window(), conv.input()));
        Line line = new Line(rows, n, y, ky, windows.map(w -> w.runs(row, rows, n, ky)));
        int width = conv.output().dim(2);
        Interior interior = padded.isPresent() ? new Interior(0, width) : Interior.of(conv);
        int whole = interior.begin() + interior.size() / pixels * pixels;
        edges(row, line, 0, interior.begin());
        row.loop("x", imm(interior.begin()), imm(whole), pixels, (b, x) -> whole(b, line, x, pixels));
        row.loop("x", imm(whole), imm(interior.end()), 1, (b, x) -> whole(b, line, x, 1));
        edges(row, line, interior.end(), width);
    }

    /** A row of the output, the window's rows inside the input, and how a kernel for whole windows reads them. */
    private record Line(Rows rows, Expr n, Expr y, TapRange ky, Optional<MveFloatWindows.Runs> runs) {}

    /** Pixels side by side, with the window's columns inside the input of the first. */
    private record Pixels(Line line, Expr x, int count, TapRange kx) {}

    /** Pixels at the border: few of them one by one, where a kernel for whole windows must know the columns. */
    private void edges(BlockBuilder row, Line line, int begin, int end) {
        int step = windows.isPresent() && end - begin <= MOST_EDGES ? 1 : Math.max(1, end - begin);
        for (int x = begin; x < end; x += step) {
            row.loop("x", imm(x), imm(x + step), 1, (b, each) -> edge(b, line, each));
        }
    }

    private void edge(BlockBuilder block, Line line, Expr x) {
        TapRange kx = windows.isPresent() && x instanceof Expr.IntImm at
                ? windows.get().columns((int) at.value())
                : TapRange.of(block, "x", x, TapRange.Axis.columns(conv.window(), conv.input()));
        block(block, new Pixels(line, x, 1, kx));
    }

    private void whole(BlockBuilder block, Line line, Expr x, int count) {
        Window w = conv.window();
        int left = padded.isPresent() ? 0 : w.padLeft();
        Expr origin = sub(mul(x, w.strideW()), imm(left));
        block(block, new Pixels(line, x, count, new TapRange(origin, imm(0), imm(w.kernelW()), w.kernelW())));
    }

    private void block(BlockBuilder block, Pixels at) {
        Expr row = add(mul(at.line.n, conv.output().dim(1)), at.line.rows.outputLine(at.line.y));
        Expr out = block.let("pixel", mul(add(mul(row, conv.output().dim(2)), at.x), conv.channels()));
        int step = kernel.channels();
        int whole = conv.channels() / step * step;
        block.loop("oc", imm(0), imm(whole), step, (inner, oc) -> channels(inner, at, oc, step, out));
        block.loop(
                "oc",
                imm(whole),
                imm(conv.channels()),
                step,
                (inner, oc) -> channels(inner, at, oc, conv.channels() - whole, out));
    }

    /** A block of channels, of which this many exist. */
    private void channels(BlockBuilder block, Pixels at, Expr oc, int valid, Expr out) {
        if (valid == kernel.channels()
                && windows.isPresent()
                && windows.get().emit(block, at.line.runs.orElseThrow(), at.count, at.kx, oc, out)) {
            return;
        }
        if (isWhole) {
            window(block, at, oc, valid, out);
            return;
        }
        sums.start(block, at.count, oc, valid);
        block.loop("ky", at.line.ky.begin(), at.line.ky.end(), 1, (b, ky) -> {
            if (DotWeights.isDilated(conv)) {
                b.loop("kx", at.kx.begin(), at.kx.end(), 1, (tap, kx) -> run(tap, at, oc, ky, kx));
            } else {
                run(b, at, oc, ky, at.kx.begin());
            }
        });
        sums.store(block, at.count, oc, valid, out);
    }

    /** Whether single calls compute windows: none of them is outside the input, or the kernel takes padded rows. */
    private boolean isWhole(Rows rows) {
        return kernel.takesWindows()
                && !DotWeights.isDilated(conv)
                && !weights.isFlushed()
                && rows.areContiguous()
                && runs().areNear();
    }

    /** Whether these calls can end all sums. */
    private boolean isEnding() {
        return isWhole
                && conv.channels() % kernel.channels() == 0
                && kernel.ending(1, runs(), conv.channels()).isPresent();
    }

    private DotKernel.Runs runs() {
        Window w = conv.window();
        int row = padded.isPresent()
                ? Math.toIntExact(PaddedRows.rowElements(conv))
                : w.dilationH() * conv.input().dim(2) * conv.input().dim(3);
        return new DotKernel.Runs(w.kernelH(), weights.taps(), row, w.strideW() * conv.channelsPerGroup());
    }

    /** All runs in one call, which also ends the sums if it can. */
    private void window(BlockBuilder block, Pixels at, Expr oc, int valid, Expr out) {
        Expr column = add(at.kx.origin(), mul(at.kx.begin(), conv.window().dilationW()));
        Expr first = block.let("first", mul(add(rowStart(at.line, imm(0)), column), conv.channelsPerGroup()));
        Buffer w = block.view("w", weights.table(), weights.at(oc, imm(0), imm(0)));
        if (sums.areUpper()) {
            Buffer in = block.view("in", padded.map(PaddedRows::scratch).orElse(input), first);
            Kernel ending = kernel.ending(at.count, runs(), conv.channels()).orElseThrow();
            block.call(ending, sums.ends(block, List.of(in, w), oc, out), List.of());
            return;
        }
        sums.start(block, at.count, oc, valid);
        kernel.call(block, inputs(block, at, first), w, sums.buffer(), runs());
        sums.store(block, at.count, oc, valid, out);
    }

    /** The run of taps in row {@code ky} of the window from column {@code kx} on. */
    private void run(BlockBuilder block, Pixels at, Expr oc, Expr ky, Expr kx) {
        Window w = conv.window();
        int cin = conv.channelsPerGroup();
        boolean isDilated = DotWeights.isDilated(conv);
        Expr column = add(at.kx.origin(), mul(kx, w.dilationW()));
        Expr first = block.let("first", mul(add(rowStart(at.line, ky), column), cin));
        Expr run = isDilated ? add(mul(ky, w.kernelW()), kx) : ky;
        Expr begin = isDilated ? imm(0) : mul(kx, cin);
        Expr taps = isDilated ? imm(cin) : mul(at.kx.count(), cin);
        if (!weights.isFlushed()) {
            call(block, at, first, weights.at(oc, run, begin), taps);
            return;
        }
        for (int tap = 0; tap < weights.taps(); tap += weights.part()) {
            BlockBuilder part = new BlockBuilder();
            int count = Math.min(weights.part(), weights.taps() - tap);
            call(part, at, add(first, tap), weights.at(oc, run, imm(tap)), imm(count));
            sums.flush(part, at.count);
            block.add(part.build());
        }
    }

    /** Pixels before those under a row of the window. */
    private Expr rowStart(Line line, Expr ky) {
        if (padded.isPresent()) {
            return mul(ky, PaddedRows.rowElements(conv) / conv.input().dim(3));
        }
        Expr row = line.rows.inputLine(
                0, add(line.ky.origin(), mul(ky, conv.window().dilationH())));
        return mul(add(mul(line.n, conv.input().dim(1)), row), conv.input().dim(2));
    }

    private List<Buffer> inputs(BlockBuilder block, Pixels at, Expr first) {
        List<Buffer> inputs = new ArrayList<>();
        for (int p = 0; p < at.count; p++) {
            long step = (long) p * conv.window().strideW() * conv.channelsPerGroup();
            inputs.add(block.view("in" + p, padded.map(PaddedRows::scratch).orElse(input), add(first, step)));
        }
        return inputs;
    }

    private void call(BlockBuilder block, Pixels at, Expr first, Expr weight, Expr taps) {
        List<Buffer> inputs = inputs(block, at, first);
        kernel.call(block, inputs, block.view("w", weights.table(), weight), sums.buffer(), taps);
    }
}
