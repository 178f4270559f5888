// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.ir.op.Window;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.BiasTable;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapRange;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.parts.Interior;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Convolutions of int16 or float data by one of the kernels for dot products. */
public record DotConvSchedule(String name) implements Schedule<DotKernel> {
    /** Layers with fewer multiply-accumulates run in plain loops if size is optimized. */
    private static final long LEAST_MACS = 5000;

    @Override
    public Optional<DotKernel> applies(Workload workload) {
        return DotKernel.of(workload).stream()
                .filter(kernel -> kernel.title().equals(name))
                .filter(kernel -> suits(workload.conv(), kernel))
                .findFirst();
    }

    /** Zero points of int16 data are 0, or folded into the biases. */
    private static boolean suits(ConvComputation conv, DotKernel kernel) {
        boolean isFilled = !conv.window().isPadded() || DotInputs.areCopied(conv, kernel);
        return conv.isFloat() || conv.inputZeroPoint() == 0 || (isFilled && BiasTable.isFoldedIfFilled(conv));
    }

    @Override
    public Space space(Workload workload, DotKernel kernel) {
        ConvComputation conv = workload.conv();
        boolean isCopied = DotInputs.areCopied(conv, kernel);
        List<Knob> knobs = new ArrayList<>(List.of(
                Knob.of(
                        "pixel_block",
                        IntStream.rangeClosed(1, mostPixels(conv, kernel)).toArray()),
                Knob.of("channel_block", kernel.channels()),
                Knob.flag("padded_rows", isCopied),
                BiasTable.isWide(conv, isCopied) ? Knob.of("sums", 64) : Knob.unusual("sums")));
        knobs.addAll(kernel.knobs());
        return new Space(name, knobs, kernel::isKernel);
    }

    private static int mostPixels(ConvComputation conv, DotKernel kernel) {
        return Math.min(kernel.pixels(), conv.output().dim(2));
    }

    @Override
    public LayerLoops lower(ConvTask task, DotKernel kernel, Configuration configuration) {
        return new Loops(task, kernel.with(configuration), configuration.number("pixel_block")).loops(task);
    }

    /** Unless size is optimized, and the layer takes little time or its weights fit four bits. */
    public Optional<Choice<DotKernel>> choose(Workload workload) {
        boolean isLarge = workload.conv().macsInside() >= LEAST_MACS && !FourBitWeights.pack(workload);
        return workload.isForSize() && !isLarge
                ? Optional.empty()
                : applies(workload).map(kernel -> choice(workload, kernel));
    }

    private Choice<DotKernel> choice(Workload workload, DotKernel kernel) {
        ConvComputation conv = workload.conv();
        boolean isCopied = DotInputs.areCopied(conv, kernel);
        Configuration configuration = Configuration.of(name)
                .with("pixel_block", mostPixels(conv, kernel))
                .with("channel_block", kernel.channels())
                .withFlag("padded_rows", isCopied)
                .withUnusual("sums", BiasTable.isWide(conv, isCopied) ? 64 : 32, 32);
        return new Choice<>(this, kernel, kernel.usual(configuration), kernel.reason());
    }

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
    static final class Loops {
        /** Pixels at one side of a row whose code is printed one by one. */
        private static final int MOST_EDGES = 2;

        private final ConvComputation conv;
        private final DotKernel kernel;
        private final int pixels;
        private final DotWeights weights;
        private final DotSums sums;
        private final DotInputs inputs;
        private final boolean isWhole;
        private final Optional<MveFloatWindows> windows;

        /**
         * Makes tables and reserves scratch.
         *
         * @param pixels largest number of pixels computed together
         */
        Loops(ConvTask task, DotKernel kernel, int pixels) {
            this.conv = task.conv();
            this.kernel = kernel;
            this.pixels = pixels;
            this.weights = DotWeights.of(conv, kernel, task.tables());
            this.inputs = DotInputs.of(task, kernel);
            this.isWhole = isWhole(task.rows());
            this.sums = new DotSums(task, kernel, pixels, weights.isFlushed(), isEnding());
            this.windows = MveFloatWindows.of(
                            conv,
                            kernel,
                            new MveFloatWindows.Tables(weights, sums.biases()),
                            task.buffers().argument(0),
                            task.buffers().output())
                    .filter(w -> w.canRead(task.rows()));
        }

        LayerLoops loops(ConvTask task) {
            long macs = inputs.areCopied() ? task.workload().macs() : conv.macsInside();
            return new LayerLoops(body(task.rows()), macs).sharing(pixels);
        }

        private Stmt body(Rows rows) {
            BlockBuilder body = new BlockBuilder();
            inputs.fillSides(body);
            rows.eachLine(body, conv.output(), (row, n, y) -> row(row, rows, n, y));
            return body.build();
        }

        private void row(BlockBuilder row, Rows rows, Expr n, Expr y) {
            inputs.copy(row, rows, n, y);
            TapRange ky = inputs.rows(row, y);
            Optional<MveFloatWindows.Runs> runs = windows.map(w -> w.runs(row, rows, n, ky));
            DotLine.Row place = new DotLine.Row(rows, n, y, ky, runs);
            row.loop(
                    "phase", conv.upsampling().strideW(), (line, phase) -> line(line, new DotLine(conv, place, phase)));
        }

        /** Positions with whole windows are computed together, others one by one. */
        private void line(BlockBuilder block, DotLine line) {
            Interior interior =
                    inputs.areCopied() ? new Interior(0, conv.output().dim(2)) : Interior.of(conv);
            Expr begin = block.let("begin", line.begin());
            Expr end = block.let("end", line.end());
            Expr first = block.let("first_whole", Exprs.min(Exprs.max(begin, imm(interior.begin())), end));
            Expr last = block.let("end_whole", Exprs.max(first, Exprs.min(end, imm(interior.end()))));
            Expr together = add(first, mul(Exprs.div(sub(last, first), imm(pixels)), pixels));
            Expr single = pixels > 1 ? block.let("single", together) : last;
            boolean isClipped = !inputs.areCopied() && conv.window().isPadded();
            edges(block, line, begin, first);
            block.loop("x", first, single, pixels, (b, x) -> whole(b, line, x, pixels));
            if (isClipped && kernel.step() == 1 && !conv.isFloat()) {
                edges(block, line, single, end);
                return;
            }
            block.loop("x", single, last, (b, x) -> whole(b, line, x, 1));
            edges(block, line, last, end);
        }

        /** Pixels at neighbouring positions, with the window's columns inside the input of the first. */
        private record Pixels(DotLine line, Expr x, int count, TapRange kx) {}

        /** Pixels at the border: few of them one by one, where a kernel for whole windows must know the columns. */
        private void edges(BlockBuilder block, DotLine line, Expr begin, Expr end) {
            boolean isKnown = begin instanceof Expr.IntImm && end instanceof Expr.IntImm;
            long count = isKnown ? ((Expr.IntImm) end).value() - ((Expr.IntImm) begin).value() : 0;
            if (windows.isEmpty() || !isKnown || count > MOST_EDGES) {
                block.loop("x", begin, end, (b, x) -> edge(b, line, x));
                return;
            }
            for (int i = 0; i < count; i++) {
                Expr x = add(begin, i);
                block.loop("x", x, add(x, 1), (b, each) -> edge(b, line, each));
            }
        }

        private void edge(BlockBuilder block, DotLine line, Expr x) {
            TapRange kx = windows.isPresent() && x instanceof Expr.IntImm at
                    ? windows.get().columns((int) at.value())
                    : TapRange.of(block, "x", x, TapRange.Axis.columns(conv.window(), conv.input()));
            block(block, new Pixels(line, x, 1, kx));
        }

        private void whole(BlockBuilder block, DotLine line, Expr x, int count) {
            Window w = conv.window();
            int left = inputs.areCopied() ? 0 : w.padLeft();
            Expr origin = sub(mul(x, w.strideW()), imm(left));
            block(block, new Pixels(line, x, count, new TapRange(origin, imm(0), imm(w.kernelW()), w.kernelW())));
        }

        private void block(BlockBuilder block, Pixels at) {
            Expr out = block.let("pixel", at.line.output(at.x));
            int step = kernel.channels();
            int whole = conv.channels() / step * step;
            block.loop(
                    "oc",
                    imm(0),
                    imm(whole),
                    step,
                    (inner, oc) -> channels(inner, at, new Block(oc, step, kernel), out));
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
            if (channels.valid == kernel.channels()
                    && windows.isPresent()
                    && windows.get()
                            .emit(block, at.line.row().runs().orElseThrow(), at.count, at.kx, channels.first, out)) {
                return;
            }
            if (sums.areUpper()) {
                ending(block, at, channels, out);
                return;
            }
            sums.start(block, at.count, channels.first, channels.valid);
            if (isWhole) {
                Buffer w = block.view("w", weights.table(), weights.at(kernel(at, channels), imm(0)));
                channels.kernel.call(
                        block, inputs.views(block, at.count, firstOfWindow(block, at)), w, sums.buffer(), runs());
            } else {
                block.loop("ky", at.line.ky().begin(), at.line.ky().end(), (b, ky) -> row(b, at, channels, ky));
            }
            sums.store(block, at.count, channels.first, channels.valid, out);
        }

        /** All runs in one call, which also ends the sums. */
        private void ending(BlockBuilder block, Pixels at, Block channels, Expr out) {
            Expr first = firstOfWindow(block, at);
            Buffer w = block.view("w", weights.table(), weights.at(channels.first, imm(0)));
            Buffer in = inputs.view(block, "in", first);
            Kernel ending = kernel.ending(at.count, runs(), conv.channels()).orElseThrow();
            block.call(ending, sums.ends(block, List.of(in, w), channels.first, out), List.of());
        }

        private Expr firstOfWindow(BlockBuilder block, Pixels at) {
            return block.let("first", first(at, imm(0), at.kx.begin()));
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
            at.kx.loop(block, "kx", (tap, kx) -> {
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

        /** Whether single calls compute windows: none of them is outside the input, or the kernel takes padded rows. */
        private boolean isWhole(Rows rows) {
            return kernel.takesWindows()
                    && !conv.isTransposed()
                    && !weights.isSplit()
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

        private static boolean isAll(Expr count, int all) {
            return count instanceof Expr.IntImm known && known.value() == all;
        }

        private DotKernel.Runs runs() {
            int step = conv.window().strideW() * conv.channelsPerGroup();
            return new DotKernel.Runs(conv.window().kernelH(), weights.taps(), inputs.rowDistance(), step);
        }

        /**
         * Adjacent taps.
         *
         * @param ky their row of the window
         * @param kx their first column
         */
        private record Run(Expr ky, Expr kx, Expr taps) {}

        private void run(BlockBuilder block, Pixels at, Run run, Expr weight, Block channels) {
            Expr first = block.let("first", first(at, run.ky, run.kx));
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

        /** Position of the tap in a row and a column of the window in the input of the first pixel. */
        private Expr first(Pixels at, Expr ky, Expr kx) {
            return inputs.position(
                    at.line.row(), ky, add(at.kx.origin(), mul(kx, conv.window().dilationW())));
        }

        private void call(BlockBuilder block, Pixels at, Expr first, Expr weight, Expr taps, Block channels) {
            List<Buffer> pointers = inputs.views(block, at.count, first);
            channels.kernel.call(block, pointers, block.view("w", weights.table(), weight), sums.buffer(), taps);
        }
    }
}
