// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.lower.Epilogue;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.BiasTable;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapRange;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.parts.Interior;
import io.kiln.schedule.parts.PlainLoops;
import io.kiln.schedule.parts.WeightPacking;
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
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Depthwise convolutions on any core. */
public record DepthwiseDirectSchedule(String name) implements Schedule<Workload> {
    /** Windows with more taps than this keep their loops, to limit code size. */
    private static final int MOST_UNROLLED_TAPS = 32;

    @Override
    public Optional<Workload> applies(Workload workload) {
        return Optional.of(workload).filter(w -> w.conv().depthwise());
    }

    @Override
    public Space space(Workload workload, Workload evidence) {
        ConvComputation conv = workload.conv();
        Knob unrolled = canUnroll(conv) ? Knob.of("unrolled", false, true) : Knob.of("unrolled", false);
        int[] pixels = DepthwisePixels.areFast(workload)
                ? DepthwisePixels.blocks(conv).stream().mapToInt(p -> p).skip(1).toArray()
                : new int[0];
        return Space.of(name(), unrolled, Knob.unusual("pixel_block", pixels), FourBitWeights.knob(conv));
    }

    private static boolean canUnroll(ConvComputation conv) {
        return conv.window().kernelH() * conv.window().kernelW() <= MOST_UNROLLED_TAPS;
    }

    @Override
    public LayerLoops lower(ConvTask task, Workload evidence, Configuration configuration) {
        Loops.Knobs knobs = new Loops.Knobs(
                configuration.value("unrolled").filter("true"::equals).isPresent(),
                configuration.number("pixel_block", 1),
                FourBitWeights.arePacked(configuration));
        return new Loops(task, knobs).loops(task.rows());
    }

    /** Wherever it applies. */
    public Optional<Choice<Workload>> choose(Workload workload) {
        return applies(workload).map(this::choice);
    }

    private Choice<Workload> choice(Workload workload) {
        boolean inBlocks = DepthwisePixels.areFast(workload) && !workload.isForSize();
        int pixels = inBlocks ? DepthwisePixels.best(workload.conv()) : 1;
        Configuration configuration = Configuration.of(name())
                .with("unrolled", Boolean.toString(canUnroll(workload.conv())))
                .withUnusual("pixel_block", pixels, 1);
        String reason = pixels == 1
                ? PlainLoops.reason(workload)
                : "depthwise: pixels side by side share their inputs and weights";
        return new Choice<>(this, workload, FourBitWeights.packed(configuration, workload), reason);
    }

    /**
     * Depthwise convolution for any core: channels innermost, one accumulator; the taps of a pixel whose window lies inside
     * the input are unrolled, so that every load has a constant offset from a row pointer.
     *
     * <pre>
     * registers: accumulator, input value, weight, a pointer for each row of the window, pointer to weights
     * weights: as in the model, [ky][kx][channel]
     * memory: no scratch
     * </pre>
     */
    static final class Loops {
        private final ConvComputation conv;
        private final Buffer input;
        private final Buffer weights;
        private final DepthwiseSums sums;
        private final int multiplier;
        private final boolean isUnrolled;
        private final boolean isPacked;

        /** Neighbouring pixels computed together, if their windows lie inside the input. */
        private final int pixelBlock;

        /**
         * The schedule's explicit values.
         *
         * @param isUnrolled whether the taps of a window inside the input are unrolled
         * @param pixelBlock neighbouring pixels computed together, if their windows lie inside the input
         * @param isPacked whether weights are packed two to a byte
         */
        record Knobs(boolean isUnrolled, int pixelBlock, boolean isPacked) {}

        LayerLoops loops(Rows rows) {
            return new LayerLoops(body(rows), conv.macsInside());
        }

        /** Makes tables. */
        Loops(ConvTask task, Knobs knobs) {
            this.conv = task.conv();
            this.isUnrolled = knobs.isUnrolled();
            this.isPacked = knobs.isPacked();
            this.pixelBlock = knobs.pixelBlock();
            this.input = task.buffers().argument(0);
            Tables tables = task.tables();
            this.weights = isPacked
                    ? FourBitWeights.halvesOfTaps(conv, tables)
                    : tables.add(
                            "weight",
                            conv.weight().type().dtype(),
                            conv.weight().data());
            this.sums = new DepthwiseSums(task, DepthwisePixels.fit(conv));
            this.multiplier = conv.channels() / conv.input().dim(3);
        }

        private Stmt body(Rows rows) {
            BlockBuilder body = new BlockBuilder();
            rows.eachLine(body, conv.output(), (row, n, y) -> line(row, rows, n, y));
            return body.build();
        }

        private void line(BlockBuilder row, Rows rows, Expr n, Expr y) {
            TapRange ky = TapRange.of(row, "y", y, TapRange.Axis.rows(conv.window(), conv.input()));
            Line line = new Line(rows, n, y, ky);
            int width = conv.output().dim(2);
            Interior interior = Interior.of(conv);
            int whole = pixelBlock == 1 ? 0 : interior.size() / pixelBlock * pixelBlock;
            int begin = whole == 0 ? 0 : interior.begin();
            row.loop("x", imm(0), imm(begin), (b, x) -> pixel(b, line, x));
            row.loop("x", imm(begin), imm(begin + whole), pixelBlock, (b, x) -> {
                Consumer<BlockBuilder> together = inner -> pixels(inner, line, x);
                if (ky.isWhole()) {
                    together.accept(b);
                } else {
                    Expr end = add(x, pixelBlock);
                    b.ifThenElse(
                            ky.isWholeAtRunTime(),
                            together,
                            inner -> inner.loop("x_each", x, end, (each, i) -> pixel(each, line, i)));
                }
            });
            row.loop("x", imm(begin + whole), imm(width), (b, x) -> pixel(b, line, x));
        }

        /** A row of the output, and the window's rows inside the input. */
        private record Line(Rows rows, Expr n, Expr y, TapRange ky) {}

        /** Position of a pixel's first channel in the output. */
        private Expr output(BlockBuilder block, Line line, Expr x) {
            Expr row = add(mul(line.n, conv.output().dim(1)), line.rows.outputLine(line.y));
            return block.let("pixel", mul(add(mul(row, conv.output().dim(2)), x), conv.channels()));
        }

        private void pixel(BlockBuilder column, Line line, Expr x) {
            Window w = conv.window();
            TapRange ky = line.ky;
            TapRange kx = TapRange.of(column, "x", x, TapRange.Axis.columns(w, conv.input()));
            Expr out = output(column, line, x);
            if (!isUnrolled) {
                windowed(column, line.rows, line.n, ky, kx, out);
            } else if (ky.isWhole() && kx.isWhole()) {
                unrolled(column, line.rows, line.n, ky, kx, out);
            } else {
                Expr inside = Exprs.and(ky.isWholeAtRunTime(), kx.isWholeAtRunTime());
                column.ifThenElse(
                        inside,
                        b -> unrolled(b, line.rows, line.n, ky, kx, out),
                        b -> windowed(b, line.rows, line.n, ky, kx, out));
            }
        }

        /** Neighbouring pixels whose windows lie inside the input, with all taps unrolled. */
        private void pixels(BlockBuilder block, Line line, Expr x) {
            Window w = conv.window();
            Expr origin = block.let("origin_x", sub(mul(x, w.strideW()), imm(w.padLeft())));
            List<Buffer> inputRows = inputRows(block, line.rows, line.n, line.ky, origin);
            Expr out = output(block, line, x);
            channels(block, (inner, c, oc) -> {
                List<Expr.Var> each = new ArrayList<>();
                for (int p = 0; p < pixelBlock; p++) {
                    each.add(sums.start(inner, "acc" + p, oc));
                }
                new DepthwisePixels(conv, inputRows, weights)
                        .emit(inner, pixelBlock, c, oc, (p, x0, by) -> sums.accumulate(inner, each.get(p), x0, by));
                for (int p = 0; p < pixelBlock; p++) {
                    sums.store(inner, String.valueOf(p), each.get(p), oc, add(out, (long) p * conv.channels()));
                }
            });
        }

        /** All taps unrolled; the window lies inside the input. */
        private void unrolled(BlockBuilder block, Rows rows, Expr n, TapRange ky, TapRange kx, Expr out) {
            Window w = conv.window();
            int channels = conv.input().dim(3);
            List<Buffer> inputRows = inputRows(block, rows, n, ky, kx.origin());
            channelLoops(block, out, (inner, c, oc, acc) -> {
                for (int k = 0; k < w.kernelH(); k++) {
                    for (int j = 0; j < w.kernelW(); j++) {
                        Expr x = load(inputRows.get(k), add(c, (long) j * w.dilationW() * channels));
                        sums.accumulate(inner, acc, x, weight(imm((long) k * w.kernelW() + j), oc));
                    }
                }
            });
        }

        /** Loops over the taps inside the input. Positions of a row are computed once: clang would compute them for each tap. */
        private void windowed(BlockBuilder block, Rows rows, Expr n, TapRange ky, TapRange kx, Expr out) {
            Window w = conv.window();
            int channels = conv.input().dim(3);
            channelLoops(
                    block,
                    out,
                    (inner, c, oc, acc) -> ky.loop(inner, "ky", (rowBlock, k) -> {
                        Expr row = rows.inputLine(0, add(ky.origin(), mul(k, w.dilationH())));
                        Expr first = rowBlock.let("first", add(mul(pixel(n, row, kx.origin()), channels), c));
                        Expr taps = mul(k, w.kernelW());
                        Expr at = isPacked ? taps : rowBlock.let("taps", add(mul(taps, conv.channels()), oc));
                        kx.loop(rowBlock, "kx", (tap, j) -> {
                            Expr x = load(input, add(first, mul(j, (long) w.dilationW() * channels)));
                            Expr weight = isPacked
                                    ? weight(tap.let("position", add(at, j)), oc)
                                    : load(weights, add(at, mul(j, conv.channels())));
                            sums.accumulate(tap, acc, x, weight);
                        });
                    }));
        }

        private Expr weight(Expr tap, Expr channel) {
            return isPacked
                    ? FourBitWeights.atTap(conv, weights, tap, channel)
                    : load(weights, add(mul(tap, conv.channels()), channel));
        }

        /** The rows under a window that lies inside the input, from a column on. */
        private List<Buffer> inputRows(BlockBuilder block, Rows rows, Expr n, TapRange ky, Expr column) {
            List<Buffer> inputRows = new ArrayList<>();
            for (int k = 0; k < conv.window().kernelH(); k++) {
                Expr row = rows.inputLine(
                        0, add(ky.origin(), (long) k * conv.window().dilationH()));
                Expr first = mul(pixel(n, row, column), conv.input().dim(3));
                inputRows.add(block.view("in" + k, input, first));
            }
            return inputRows;
        }

        private void channels(BlockBuilder block, EachChannel body) {
            block.loop(
                    "c",
                    conv.input().dim(3),
                    (inner, c) -> inner.loop("m", multiplier, (last, m) -> {
                        Expr oc = last.let("oc", add(mul(c, multiplier), m));
                        body.emit(last, c, oc);
                    }));
        }

        private void channelLoops(BlockBuilder block, Expr out, ChannelBody body) {
            channels(block, (inner, c, oc) -> {
                Expr.Var acc = sums.start(inner, "acc", oc);
                body.emit(inner, c, oc, acc);
                sums.store(inner, "", acc, oc, out);
            });
        }

        /** Emits the code for an output channel of an input channel. */
        @FunctionalInterface
        private interface EachChannel {
            void emit(BlockBuilder block, Expr inputChannel, Expr outputChannel);
        }

        /** Adds the taps of one channel to its accumulator. */
        @FunctionalInterface
        private interface ChannelBody {
            void emit(BlockBuilder block, Expr inputChannel, Expr outputChannel, Expr.Var accumulator);
        }

        private Expr pixel(Expr n, Expr row, Expr column) {
            return add(mul(add(mul(n, conv.input().dim(1)), row), conv.input().dim(2)), column);
        }
    }

    /** The sums of {@link DepthwiseDirectSchedule}: initial value, products and final conversion. */
    private static final class DepthwiseSums {
        private final ConvComputation conv;
        private final BiasTable bias;
        private final Epilogue epilogue;
        private final Buffer output;

        /** Whether multiply and add are one instruction. */
        private final boolean isFused;

        /** Whether a sum fits into 32 bits without its bias but not with it. */
        private final boolean isBiasLast;

        DepthwiseSums(ConvTask task, boolean fits32Bits) {
            this.conv = task.conv();
            this.bias = BiasTable.of(conv, task.tables());
            this.epilogue = new Epilogue(conv.op(), bias.bound(), task.tables());
            this.output = task.buffers().output();
            this.isFused = DepthwisePixels.isFused(task.workload());
            this.isBiasLast = fits32Bits && bias.buffer().dtype() == DType.INT64;
        }

        /** Declares the sum of a channel. */
        Expr.Var start(BlockBuilder block, String name, Expr oc) {
            return block.mutable(name, isBiasLast ? imm(0) : load(bias.buffer(), oc));
        }

        /** Emits the addition of a product. */
        void accumulate(BlockBuilder block, Expr.Var sum, Expr x, Expr weight) {
            Expr centred = conv.isFloat() || bias.isFolded() ? x : sub(x, imm(conv.inputZeroPoint()));
            Expr by = WeightPacking.centred(conv, weight);
            block.assign(
                    sum,
                    isFused
                            ? new Expr.Call(Intrinsics.MULTIPLY_ADD, List.of(sum, centred, by))
                            : add(sum, cast(sum.dtype(), mul(centred, by))));
        }

        /** Emits the conversion of a sum to an output element. */
        void store(BlockBuilder block, String suffix, Expr sum, Expr oc, Expr pixel) {
            Expr biased = isBiasLast ? add(cast(DType.INT64, sum), load(bias.buffer(), oc)) : sum;
            epilogue.store(block, suffix, biased, oc, output, add(pixel, oc));
        }
    }
}
