// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.ir.op.Window;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapRange;
import io.kiln.lower.layer.Upsampling;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.parts.Interior;
import io.kiln.schedule.parts.PlainLoops;
import io.kiln.schedule.parts.ScalarRequantize;
import io.kiln.schedule.parts.WeightPacking;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.LayerCode;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Convolutions and dense layers on any core, except depthwise ones. */
public record ConvDirectSchedule(String name) implements Schedule<Workload> {
    /** With blocks of 4 channels, sums and operands fill 24 of 32 floating-point registers. */
    private static final int MOST_PIXELS = 4;

    /** Whether a rescaling that is proven to give the reference's results takes the place of its steps. */
    private static final String PROVEN = "proven_rescale";

    private static final int MOST_CHANNELS = 8;
    private static final int MOST_UNROLL = 4;

    @Override
    public Optional<Workload> applies(Workload workload) {
        return Optional.of(workload).filter(w -> !w.conv().depthwise());
    }

    /** Blocks of channels never straddle groups, and the unrolling divides a run of channels. */
    @Override
    public Space space(Workload workload, Workload evidence) {
        ConvComputation conv = workload.conv();
        int perGroup = conv.channels() / conv.groups();
        int[] channels = IntStream.rangeClosed(1, Math.min(MOST_CHANNELS, perGroup))
                .filter(block -> conv.groups() == 1 || perGroup % block == 0)
                .toArray();
        int[] unroll = IntStream.rangeClosed(1, MOST_UNROLL)
                .filter(steps -> conv.channelsPerGroup() % steps == 0)
                .toArray();
        return Space.of(
                name(),
                Knob.of("channel_block", channels),
                Knob.of("unroll", unroll),
                Knob.unusual("pixel_block", pixelBlocks(workload)),
                FourBitWeights.knob(conv),
                proven(conv).isPresent() ? Knob.flag(PROVEN, false, true) : Knob.flag(PROVEN, false));
    }

    /** The rescaling by one high multiplication for layers of a single pixel, where a call of a micro-kernel may cost more than the products. */
    private static Optional<ScalarRequantize> proven(ConvComputation conv) {
        boolean isSingle = conv.output().dim(1) * conv.output().dim(2) == 1;
        return isSingle && !conv.isTransposed() && !conv.window().isPadded()
                ? ScalarRequantize.of(conv)
                : Optional.empty();
    }

    private static int[] pixelBlocks(Workload workload) {
        return IntStream.rangeClosed(2, MOST_PIXELS)
                .filter(pixels -> canBlockPixels(workload.conv(), pixels))
                .toArray();
    }

    private static boolean canBlockPixels(Workload workload) {
        return isFused(workload) && canBlockPixels(workload.conv(), MOST_PIXELS);
    }

    private static boolean canBlockPixels(ConvComputation conv, int pixels) {
        return isContiguous(conv) && !conv.isTransposed() && Interior.of(conv).size() >= pixels;
    }

    /** Whether a float multiply and add are one instruction. */
    private static boolean isFused(Workload workload) {
        CpuFeatures features = workload.features();
        return workload.conv().isFloat() && features.family() == CpuFeatures.Family.CORTEX_M && features.hasFpu();
    }

    /** Whether the rest of a window row is a single run in the input. */
    static boolean isContiguous(ConvComputation conv) {
        return conv.groups() == 1
                && (conv.window().dilationW() == 1 || conv.window().kernelW() == 1);
    }

    @Override
    public LayerLoops lower(ConvTask task, Workload evidence, Configuration configuration) {
        Loops.Knobs knobs = new Loops.Knobs(
                configuration.number("channel_block"),
                configuration.number("unroll"),
                configuration.number("pixel_block", 1),
                isFused(task.workload()),
                FourBitWeights.arePacked(configuration),
                configuration.isOn(PROVEN) ? proven(task.conv()) : Optional.empty());
        return new Loops(task, knobs).loops();
    }

    /** Wherever it applies. */
    public Optional<Choice<Workload>> choose(Workload workload) {
        return applies(workload).map(w -> new Choice<>(this, w, configuration(w), PlainLoops.reason(w)));
    }

    /**
     * Counted on the MLPerf Tiny keyword model: on Cortex-M blocks of 2 and 3 channels cost more than 4 (also in 16-bit
     * Thumb), on RISC-V 8 costs 14 % more than 4, on x86-64 4 costs 4 % more than 8.
     */
    private Configuration configuration(Workload workload) {
        ConvComputation conv = workload.conv();
        CpuFeatures features = workload.features();
        boolean small =
                features.family() == CpuFeatures.Family.CORTEX_M || features.family() == CpuFeatures.Family.RISCV;
        int pixels = !workload.isForSize() && canBlockPixels(workload) ? MOST_PIXELS : 1;
        boolean wide = !small || (isFused(workload) && pixels == 1);
        int most = workload.isForSize() ? 2 : wide ? MOST_CHANNELS : 4;
        int perGroup = conv.channels() / conv.groups();
        int block = conv.groups() == 1 ? Math.min(most, perGroup) : largestDivisor(perGroup, most);
        Configuration configuration = Configuration.of(name())
                .with("channel_block", block)
                .with("unroll", largestDivisor(conv.channelsPerGroup(), workload.isForSize() ? 1 : MOST_UNROLL))
                .withUnusual("pixel_block", pixels, 1);
        return FourBitWeights.packed(configuration, workload);
    }

    private static int largestDivisor(int value, int atMost) {
        int divisor = atMost;
        while (value % divisor != 0) {
            divisor--;
        }
        return divisor;
    }

    /**
     * Direct convolution for any core: for each pixel, blocks of output channels whose accumulators stay in registers.
     *
     * <pre>
     * registers (block of 4): 4 accumulators, 1 input value, 1 weight, pointers to input and weights, count
     * weights: per block [ky][kx][c][channel of the block], so that one pointer walks through them
     * memory: no scratch
     * </pre>
     *
     * <p>Taps outside the input are skipped by narrowing the window's range for each row and column; the rest of a window
     * row is contiguous in the input unless the width is dilated or the convolution grouped.
     */
    static final class Loops extends LayerCode {
        private final Knobs knobs;
        private final Tables tables;
        private final SumEpilogues ends;

        /**
         * The schedule's explicit values.
         *
         * @param channelBlock output channels computed together
         * @param unroll number of unrolled steps of the innermost loop
         * @param pixelBlock neighbouring pixels computed together, if their windows lie inside the input
         * @param fused whether multiply and add are one instruction
         * @param packed whether weights are {@link FourBitWeights#halves}
         * @param rescale a proven rescaling in place of the reference's steps
         */
        record Knobs(
                int channelBlock,
                int unroll,
                int pixelBlock,
                boolean fused,
                boolean packed,
                Optional<ScalarRequantize> rescale) {}

        /** Makes the tables that sums begin or end with. */
        Loops(ConvTask task, Knobs knobs) {
            super(task);
            this.knobs = knobs;
            this.tables = task.tables();
            this.ends = knobs.rescale()
                    .map(rescale -> SumEpilogues.of(rescale, tables))
                    .orElseGet(() -> SumEpilogues.of(conv, tables));
        }

        LayerLoops loops() {
            return new LayerLoops(body(), conv.macsInside());
        }

        private Stmt body() {
            BlockBuilder body = new BlockBuilder();
            List<PackedChannels.Blocks> blocks = new PackedChannels(conv, knobs, tables).blocks();
            Interior interior = Interior.of(conv);
            int whole = knobs.pixelBlock() == 1 ? 0 : interior.size() / knobs.pixelBlock() * knobs.pixelBlock();
            int begin = whole == 0 ? 0 : interior.begin();
            rows.eachLine(body, conv.output(), (row, n, y) -> {
                Window w = conv.window();
                Expr position = row.let("position_y", conv.upsampling().row(y));
                TapRange ky = rows(row, y, TapRange.of(row, "y", position, TapRange.Axis.rows(w, conv.input())));
                Line line = new Line(rows, n, y, ky);
                row.loop("x", imm(0), imm(begin), (b, x) -> pixel(b, blocks, line, x));
                row.loop(
                        "x",
                        imm(begin),
                        imm(begin + whole),
                        knobs.pixelBlock(),
                        (b, x) -> pixelBlock(b, blocks, line, x));
                row.loop("x", imm(begin + whole), imm(conv.output().dim(2)), (b, x) -> pixel(b, blocks, line, x));
            });
            return body.build();
        }

        private TapRange rows(BlockBuilder block, Expr y, TapRange taps) {
            Upsampling u = conv.upsampling();
            return conv.isFloat()
                    ? Upsampling.unfilled(block, "y", taps, add(y, u.padTop()), u.strideH(), conv.transposedKernelH())
                    : taps;
        }

        private TapRange columns(BlockBuilder block, Expr x, TapRange taps) {
            Upsampling u = conv.upsampling();
            return conv.isFloat()
                    ? Upsampling.unfilled(block, "x", taps, add(x, u.padLeft()), u.strideW(), conv.transposedKernelW())
                    : taps;
        }

        /** A row of the output, and the window's rows inside the input. */
        private record Line(Rows rows, Expr n, Expr y, TapRange ky) {}

        /** Pixels computed together, from their number and the window's columns inside the input of the first. */
        private record Pixels(Line line, int count, Expr phase, TapRange kx, Expr out) {}

        private void pixel(BlockBuilder block, List<PackedChannels.Blocks> blocks, Line line, Expr x) {
            Expr position = block.let("position_x", conv.upsampling().column(x));
            TapRange kx = columns(
                    block, x, TapRange.of(block, "x", position, TapRange.Axis.columns(conv.window(), conv.input())));
            Expr out = output(block, line, x);
            Expr phase = block.let("phase", conv.upsampling().phase(line.y, x));
            blocks.forEach(channels -> channelLoop(block, channels, new Pixels(line, 1, phase, kx, out)));
        }

        /** Neighbouring pixels whose windows lie inside the input. */
        private void pixelBlock(BlockBuilder block, List<PackedChannels.Blocks> blocks, Line line, Expr x) {
            Window w = conv.window();
            Expr origin = block.let("origin_x", sub(mul(x, w.strideW()), imm(w.padLeft())));
            TapRange kx = new TapRange(origin, imm(0), imm(w.kernelW()), w.kernelW());
            Expr out = output(block, line, x);
            Pixels pixels = new Pixels(line, knobs.pixelBlock(), imm(0), kx, out);
            blocks.forEach(channels -> channelLoop(block, channels, pixels));
        }

        /** Position of a pixel's first channel. */
        private Expr output(BlockBuilder block, Line line, Expr x) {
            Expr row = add(mul(line.n, conv.output().dim(1)), line.rows.outputLine(line.y));
            return block.let("pixel", mul(add(mul(row, conv.output().dim(2)), x), conv.channels()));
        }

        private void channelLoop(BlockBuilder block, PackedChannels.Blocks blocks, Pixels pixels) {
            TapRange ky = pixels.line.ky;
            block.loop("oc", imm(blocks.begin()), imm(blocks.end()), blocks.width(), (inner, oc) -> {
                List<Expr.Var> accumulators = new ArrayList<>();
                for (int i = 0; i < pixels.count * blocks.width(); i++) {
                    accumulators.add(inner.mutable("acc" + i, ends.start(add(oc, i % blocks.width()))));
                }
                Expr kernel = add(mul(pixels.phase, blocks.end() - blocks.begin()), oc);
                ky.loop(inner, "ky", (rowBlock, k) -> {
                    Expr row = add(ky.origin(), mul(k, conv.window().dilationH()));
                    Expr inputRow = pixels.line.rows.inputLine(0, row);
                    windowRow(rowBlock, blocks, new WindowRow(pixels, kernel, oc, inputRow, k), accumulators);
                });
                List<SumEpilogues.Sum> sums = new ArrayList<>();
                for (int i = 0; i < accumulators.size(); i++) {
                    Expr channel = add(oc, i % blocks.width());
                    Expr place = add(pixels.out, (long) i / blocks.width() * conv.channels());
                    sums.add(new SumEpilogues.Sum(accumulators.get(i), channel, add(place, channel)));
                }
                ends.store(inner, sums, output);
            });
        }

        /** A row of the window: of the kernel of an output channel and its phase, over a row of the input. */
        private record WindowRow(Pixels pixels, Expr kernel, Expr oc, Expr inputRow, Expr ky) {}

        /** One row of the window: a single run where taps are neighbours in memory, else a run for each tap. */
        private void windowRow(
                BlockBuilder block, PackedChannels.Blocks blocks, WindowRow at, List<Expr.Var> accumulators) {
            Window w = conv.window();
            TapRange kx = at.pixels.kx;
            int run = conv.channelsPerGroup();
            Expr rowStart = mul(
                    add(mul(at.pixels.line.n, conv.input().dim(1)), at.inputRow),
                    conv.input().dim(2));
            Expr blockStart = mul(sub(at.kernel, imm(blocks.begin())), conv.taps());
            if (ConvDirectSchedule.isContiguous(conv)) {
                Expr first = mul(add(rowStart, add(kx.origin(), kx.begin())), run);
                Expr tap = add(mul(at.ky, w.kernelW()), kx.begin());
                List<Buffer> inputs = new ArrayList<>();
                for (int p = 0; p < at.pixels.count; p++) {
                    String name = at.pixels.count == 1 ? "in" : "in" + p;
                    inputs.add(block.view(name, input, add(first, (long) p * w.strideW() * run)));
                }
                Weights weights = weights(block, blocks, add(blockStart, mul(tap, (long) run * blocks.width())));
                dotProduct(block, inputs, weights, mul(kx.count(), run), blocks.width(), accumulators);
                return;
            }
            Expr group = Exprs.div(at.oc, imm(conv.channels() / conv.groups()));
            kx.loop(block, "kx", (tapBlock, k) -> {
                Expr pixel = add(rowStart, add(kx.origin(), mul(k, w.dilationW())));
                Expr first = add(mul(pixel, conv.input().dim(3)), mul(group, run));
                Buffer in = tapBlock.view("in", input, first);
                Expr tap = add(mul(at.ky, w.kernelW()), k);
                Weights weights = weights(tapBlock, blocks, add(blockStart, mul(tap, (long) run * blocks.width())));
                dotProduct(tapBlock, List.of(in), weights, imm(run), blocks.width(), accumulators);
            });
        }

        /** Weights of a run of inputs for a block of channels. */
        @FunctionalInterface
        private interface Weights {
            /** The weight at {@code offset} after the first one of step {@code i}. */
            Expr at(Expr i, int offset);
        }

        /** Weights from a position in their table on; bytes of blocks of an even width begin at an even position. */
        private Weights weights(BlockBuilder block, PackedChannels.Blocks blocks, Expr place) {
            int width = blocks.width();
            if (knobs.packed() && width % 2 != 0) {
                Expr first = block.let("first", place);
                return (i, offset) -> FourBitWeights.at(blocks.weights(), add(add(first, mul(i, width)), offset));
            }
            if (knobs.packed()) {
                Buffer pairs = block.view("w", blocks.weights(), Exprs.div(place, imm(2)));
                return (i, offset) -> FourBitWeights.half(pairs, add(mul(i, width / 2), offset / 2), offset % 2);
            }
            Buffer view = block.view("w", blocks.weights(), place);
            return (i, offset) -> load(view, add(mul(i, width), offset));
        }

        private void dotProduct(
                BlockBuilder block,
                List<Buffer> inputs,
                Weights weights,
                Expr length,
                int width,
                List<Expr.Var> accumulators) {
            block.loop("i", imm(0), length, knobs.unroll(), (step, i) -> {
                for (int u = 0; u < knobs.unroll(); u++) {
                    List<Expr> values = new ArrayList<>();
                    for (int p = 0; p < inputs.size(); p++) {
                        String name = inputs.size() == 1 ? "x" + u : "x" + u + "_" + p;
                        values.add(step.let(name, value(inputs.get(p), add(i, u))));
                    }
                    for (int o = 0; o < width; o++) {
                        Expr loaded = weights.at(i, u * width + o);
                        Expr centred = WeightPacking.centred(conv, loaded);
                        Expr weight = inputs.size() == 1 ? centred : step.let("w" + u + "_" + o, centred);
                        for (int p = 0; p < inputs.size(); p++) {
                            Expr.Var acc = accumulators.get(p * width + o);
                            step.assign(acc, sum(acc, values.get(p), weight));
                        }
                    }
                }
            });
        }

        private Expr value(Buffer in, Expr index) {
            Expr value = load(in, index);
            return conv.isFloat() || ends.isFolded() ? value : sub(value, imm(conv.inputZeroPoint()));
        }

        private Expr sum(Expr.Var acc, Expr value, Expr weight) {
            return knobs.fused()
                    ? new Expr.Call(Intrinsics.MULTIPLY_ADD, List.of(acc, value, weight))
                    : add(acc, cast(acc.dtype(), mul(value, weight)));
        }
    }

    /** Weights of a direct convolution in the order in which its blocks of output channels read them. */
    private record PackedChannels(ConvComputation conv, ConvDirectSchedule.Loops.Knobs knobs, Tables tables) {
        /** Channels {@code [begin, end)} in blocks of one width, and the table of their weights. */
        record Blocks(int begin, int end, int width, Buffer weights) {}

        /** Blocks of the configured width, and one for the remaining channels. */
        List<Blocks> blocks() {
            int channels = conv.channels();
            int whole = channels / knobs.channelBlock() * knobs.channelBlock();
            List<Blocks> blocks = new ArrayList<>();
            if (whole > 0) {
                blocks.add(pack("weight", 0, whole, knobs.channelBlock()));
            }
            if (whole < channels) {
                blocks.add(pack("weight_rest", whole, channels, channels - whole));
            }
            return blocks;
        }

        private Blocks pack(String name, int begin, int end, int width) {
            int phases = conv.upsampling().phases();
            WeightPacking packing = new WeightPacking(conv, phases * (end - begin) * conv.taps(), knobs.packed());
            for (int phase = 0; phase < phases; phase++) {
                putAll(packing, phase * conv.channels() + begin, phase * conv.channels() + end, width);
            }
            return new Blocks(begin, end, width, packing.table(name, tables));
        }

        private void putAll(WeightPacking packing, int begin, int end, int width) {
            for (int first = begin; first < end; first += width) {
                for (int ky = 0; ky < conv.window().kernelH(); ky++) {
                    for (int kx = 0; kx < conv.window().kernelW(); kx++) {
                        for (int c = 0; c < conv.channelsPerGroup(); c++) {
                            for (int o = first; o < first + width; o++) {
                                packing.put(o, ky, kx, c);
                            }
                        }
                    }
                }
            }
        }
    }
}
