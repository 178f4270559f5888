// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Clip;
import io.kiln.kernels.depthwise.Jtemve_floatGenerated;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.BiasTable;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapRange;
import io.kiln.schedule.parts.Interior;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.LayerCode;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.Stmt;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Depthwise convolutions of float data on MVE. */
public record MveFloatDepthwiseSchedule(String name) implements Schedule<Workload> {
    private static final int MOST_PIXELS = 4;

    @Override
    public Optional<Workload> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        boolean suits = workload.features().hasMve()
                && workload.features().hasFpu()
                && conv.depthwise()
                && conv.isFloat()
                && conv.weight().type().dtype().isFloat()
                && conv.channels() == conv.input().dim(3);
        return Optional.of(workload).filter(w -> suits);
    }

    @Override
    public Space space(Workload workload, Workload evidence) {
        int[] pixels = IntStream.rangeClosed(1, mostPixels(workload.conv())).toArray();
        return Space.of(name(), Knob.of("pixel_block", pixels));
    }

    private static int mostPixels(ConvComputation conv) {
        return Math.max(1, Math.min(MOST_PIXELS, Interior.of(conv).size()));
    }

    @Override
    public LayerLoops lower(ConvTask task, Workload evidence, Configuration configuration) {
        return new Loops(task, configuration.number("pixel_block")).loops();
    }

    /** Wherever it applies. */
    public Optional<Choice<Workload>> choose(Workload workload) {
        Configuration configuration = Configuration.of(name()).with("pixel_block", mostPixels(workload.conv()));
        String reason = "four channels in one instruction (MVE)";
        return applies(workload).map(evidence -> new Choice<>(this, evidence, configuration, reason));
    }

    /**
     * Depthwise convolution of float data on MVE, four channels at a time: the output is initialised with the bias, a
     * kernel adds the taps of one row of the window for neighbouring pixels, and limits are applied last.
     *
     * <pre>
     * weights: as in the model, [ky][kx][channel]
     * memory: no scratch; sums are in the output
     * </pre>
     */
    static final class Loops extends LayerCode {
        private final int pixels;
        private final Buffer weights;
        private final Buffer bias;

        /**
         * Makes tables.
         *
         * @param pixels number of neighbouring pixels computed together
         */
        Loops(ConvTask task, int pixels) {
            super(task);
            this.pixels = pixels;
            this.weights =
                    task.tables().add("weight", DType.FLOAT32, conv.weight().data());
            this.bias = BiasTable.of(conv, task.tables()).buffer();
        }

        LayerLoops loops() {
            return new LayerLoops(body(), conv.macsInside());
        }

        private Stmt body() {
            BlockBuilder body = new BlockBuilder();
            rows.eachLine(body, conv.output(), (row, n, y) -> {
                TapRange ky = TapRange.of(row, "y", y, TapRange.Axis.rows(conv.window(), conv.input()));
                Line line = new Line(rows, n, y, ky);
                int width = conv.output().dim(2);
                Interior interior = Interior.of(conv);
                int whole = interior.begin() + interior.size() / pixels * pixels;
                row.loop("x", imm(0), imm(interior.begin()), (b, x) -> edge(b, line, x));
                row.loop("x", imm(interior.begin()), imm(whole), pixels, (b, x) -> together(b, line, x, pixels));
                row.loop("x", imm(whole), imm(interior.end()), (b, x) -> together(b, line, x, 1));
                row.loop("x", imm(interior.end()), imm(width), (b, x) -> edge(b, line, x));
            });
            return body.build();
        }

        /** A row of the output, and the window's rows inside the input. */
        private record Line(Rows rows, Expr n, Expr y, TapRange ky) {}

        /** A pixel whose window may be clipped: tap by tap. */
        private void edge(BlockBuilder block, Line line, Expr x) {
            TapRange kx = TapRange.of(block, "x", x, TapRange.Axis.columns(conv.window(), conv.input()));
            Buffer out = start(block, line, x, 1);
            line.ky.loop(
                    block,
                    "ky",
                    (rows, ky) -> kx.loop(rows, "kx", (b, k) -> {
                        Expr column = add(kx.origin(), mul(k, conv.window().dilationW()));
                        taps(b, line, column, new Taps(ky, k, 1), 1, out);
                    }));
            limit(block, out, 1);
        }

        /** Pixels whose windows lie inside the input's width. */
        private void together(BlockBuilder block, Line line, Expr x, int count) {
            Window w = conv.window();
            Buffer out = start(block, line, x, count);
            Expr origin = block.let("origin_x", sub(mul(x, w.strideW()), imm(w.padLeft())));
            line.ky.loop(block, "ky", (rows, ky) -> {
                for (int kx = 0; kx < w.kernelW(); kx += MveFloatTaps.MOST_TAPS) {
                    Taps taps = new Taps(ky, imm(kx), Math.min(MveFloatTaps.MOST_TAPS, w.kernelW() - kx));
                    Expr column = add(origin, (long) kx * w.dilationW());
                    rows.block(part -> taps(part, line, column, taps, count, out));
                }
            });
            limit(block, out, count);
        }

        private Buffer start(BlockBuilder block, Line line, Expr x, int count) {
            Expr row = add(mul(line.n, conv.output().dim(1)), line.rows.outputLine(line.y));
            Expr pixel = mul(add(mul(row, conv.output().dim(2)), x), conv.channels());
            Buffer out = block.mutableView("out", output, pixel);
            block.call(MveFloatTaps.START, List.of(bias, out), List.of(imm(conv.channels()), imm(count)));
            return out;
        }

        /** Taps of a row of the window that follow each other, from a column on. */
        private record Taps(Expr ky, Expr kx, int count) {}

        private void taps(BlockBuilder block, Line line, Expr column, Taps taps, int count, Buffer out) {
            Window w = conv.window();
            Expr row = line.rows.inputLine(0, add(line.ky.origin(), mul(taps.ky, w.dilationH())));
            Expr pixel = add(
                    mul(add(mul(line.n, conv.input().dim(1)), row), conv.input().dim(2)), column);
            Buffer in = block.view("in", input, mul(pixel, conv.channels()));
            Buffer by = block.view("w", weights, mul(add(mul(taps.ky, w.kernelW()), taps.kx), conv.channels()));
            MveFloatTaps kernel = new MveFloatTaps(
                    count, taps.count, count == 1 ? 1 : w.strideW(), taps.count == 1 ? 1 : w.dilationW());
            block.call(kernel.kernel(), List.of(in, by, out), List.of(imm(conv.channels())));
        }

        private void limit(BlockBuilder block, Buffer out, int count) {
            Optional<Clip> clip = conv.op().clip();
            if (clip.isPresent()) {
                float low = (float) clip.get().min();
                float high = (float) clip.get().max();
                Expr least = bits(low == -Float.MAX_VALUE ? Float.NEGATIVE_INFINITY : low);
                Expr most = bits(high == Float.MAX_VALUE ? Float.POSITIVE_INFINITY : high);
                block.call(MveFloatTaps.LIMIT, List.of(out), List.of(imm((long) count * conv.channels()), least, most));
            }
        }

        private static Expr bits(float value) {
            return imm(Float.floatToIntBits(value));
        }
    }

    /**
     * The kernels of {@link MveFloatDepthwiseSchedule}, of which {@code depthwise/mve_float} adds taps: four channels at a time, with remaining channels predicated.
     *
     * @param pixels number of neighbouring pixels, at most 4
     * @param taps number of neighbouring taps, at most {@link #MOST_TAPS}
     * @param stride pixels of the input from one pixel to the next
     * @param dilation likewise from tap to tap
     */
    public record MveFloatTaps(int pixels, int taps, int stride, int dilation) {
        public static final int MOST_TAPS = 3;

        /** {@code start(bias, sums, channels, pixels)}. */
        static final Kernel START = Kernel.inFile(
                "depthwise/kiln_mve_depthf_start",
                Pointer.lastWritten(DType.FLOAT32, DType.FLOAT32),
                List.of(DType.INT32, DType.INT32));

        /** {@code limit(values, count, low, high)}; limits are the bits of floats, since they may be infinite. */
        static final Kernel LIMIT = Kernel.inFile(
                "depthwise/kiln_mve_depthf_limit",
                List.of(Pointer.out(DType.FLOAT32)),
                List.of(DType.INT32, DType.INT32, DType.INT32));

        Kernel kernel() {
            String name = "kiln_mve_depthf_" + pixels + "x" + taps + (stride == 1 ? "" : "_s" + stride)
                    + (dilation == 1 ? "" : "_d" + dilation);
            return Kernel.of(
                    name,
                    Pointer.lastWritten(DType.FLOAT32, DType.FLOAT32, DType.FLOAT32),
                    1,
                    (out, html) -> Jtemve_floatGenerated.render(out, html, name, this));
        }

        /** The tap of a pixel that reads a column, counted from the first pixel's first tap; negative if none does. */
        public int tap(int pixel, int column) {
            int offset = column - pixel * stride;
            return offset >= 0 && offset % dilation == 0 && offset / dilation < taps ? offset / dilation : -1;
        }

        /** Whether some pixel reads a column. */
        public boolean isRead(int column) {
            return IntStream.range(0, pixels).anyMatch(p -> tap(p, column) >= 0);
        }
    }
}
