// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapRange;
import io.kiln.schedule.parts.Interior;
import io.kiln.schedule.parts.WindowRows;
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
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Convolutions and dense layers of float data on a floating-point unit with fused multiply-add. */
public record FpuConvSchedule(String name) implements Schedule<FpuLimits> {
    private static final int PIXELS = 4;

    /** Sums of a single pixel; of several pixels, half as many channels. */
    private static final int SINGLE = 8;

    /** Taps of a step, if not two. */
    private static final String TAPS = "taps";

    /** Percent of the products that are added by instructions of their own. */
    private static final String UNFUSED = "unfused";

    @Override
    public Optional<FpuLimits> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        boolean suits = hasKernels(workload)
                && !conv.depthwise()
                && conv.groups() == 1
                && (conv.window().dilationW() == 1 || conv.window().kernelW() == 1);
        return suits ? Optional.of(FpuLimits.of(conv.op())) : Optional.empty();
    }

    /**
     * Whether the core has the kernels' instructions, and no vectors, the layer's data and weights are float, and each
     * window has a row inside the input.
     */
    public static boolean hasKernels(Workload workload) {
        ConvComputation conv = workload.conv();
        CpuFeatures features = workload.features();
        return features.family() == CpuFeatures.Family.CORTEX_M
                && features.hasFpu()
                && features.hasDsp()
                && !features.hasMve()
                && conv.isFloat()
                && conv.weight().type().dtype().isFloat()
                && !conv.isTransposed()
                && WindowRows.areInside(conv);
    }

    @Override
    public Space space(Workload workload, FpuLimits limits) {
        int most = Math.max(1, Math.min(PIXELS, Interior.of(workload.conv()).size()));
        return Space.of(
                        name(),
                        Knob.of("pixel_block", IntStream.rangeClosed(1, most).toArray()),
                        Knob.of("channel_block", SINGLE / 2, SINGLE, 2 * SINGLE),
                        Knob.unusual(TAPS, 3, 4),
                        Knob.unusual(UNFUSED, 6, 10, 14, 18, 25, 50, 100))
                .where(configuration -> blocks(configuration).fit());
    }

    private static FpuBlocks blocks(Configuration configuration) {
        return new FpuBlocks(
                configuration.number("pixel_block"),
                configuration.number("channel_block"),
                configuration.number(TAPS, 2),
                configuration.number(UNFUSED, 0));
    }

    @Override
    public LayerLoops lower(ConvTask task, FpuLimits limits, Configuration configuration) {
        return new Loops(task, blocks(configuration), limits).loops();
    }

    /** Wherever it applies: one kernel serves many layers. */
    public Optional<Choice<FpuLimits>> choose(Workload workload) {
        return applies(workload).map(limits -> choice(workload, limits));
    }

    private Choice<FpuLimits> choice(Workload workload, FpuLimits limits) {
        ConvComputation conv = workload.conv();
        boolean isSingle = Interior.of(conv).size() < PIXELS;
        Configuration configuration = Configuration.of(name())
                .with("pixel_block", isSingle ? 1 : PIXELS)
                .with("channel_block", isSingle && conv.channels() > SINGLE / 2 ? SINGLE : SINGLE / 2);
        return new Choice<>(
                this, limits, configuration, "sums in floating-point registers, two taps in one multiple load (VFMA)");
    }

    /**
     * Convolutions and dense layers of float data by {@link FpuBlocks}: some neighbouring pixels times all blocks of
     * channels in one call; pixels whose windows cross the sides one by one.
     *
     * <pre>
     * weights: per block of channels [ky][kx][c][channel of the block], 0 beyond the last channel; biases likewise
     * memory: scratch for a block of results if channels are left behind the last whole block
     * </pre>
     */
    private static final class Loops extends LayerCode {
        private final FpuBlocks blocks;
        private final FpuLimits limits;
        private final Buffer weights;
        private final Buffer bias;
        private final List<Buffer> rest = new ArrayList<>();

        /** Makes tables and reserves scratch. */
        Loops(ConvTask task, FpuBlocks blocks, FpuLimits limits) {
            super(task);
            this.blocks = blocks;
            this.limits = limits;
            this.weights = weights(task.tables());
            this.bias = bias(task.tables());
            if (left() > 0) {
                rest.add(task.buffers().scratch(DType.FLOAT32, (long) blocks.pixels() * blocks.channels()));
            }
        }

        /** Channels behind the last whole block. */
        private int left() {
            return conv.channels() % blocks.channels();
        }

        private int padded() {
            return (conv.channels() + blocks.channels() - 1) / blocks.channels() * blocks.channels();
        }

        private Buffer weights(Tables tables) {
            float[] packed = new float[padded() * conv.taps()];
            for (int o = 0; o < conv.channels(); o++) {
                float[] weights = conv.realTaps(o);
                int first = o / blocks.channels() * blocks.channels() * weights.length + o % blocks.channels();
                for (int tap = 0; tap < weights.length; tap++) {
                    packed[first + tap * blocks.channels()] = weights[tap];
                }
            }
            return tables.add("weight", packed);
        }

        private Buffer bias(Tables tables) {
            float[] padded = new float[padded()];
            conv.op().bias().ifPresent(b -> {
                for (int o = 0; o < conv.channels(); o++) {
                    padded[o] = b.real(o);
                }
            });
            return tables.add("bias", padded);
        }

        LayerLoops loops() {
            return new LayerLoops(body(), conv.macsInside()).sharing(blocks.pixels());
        }

        private Stmt body() {
            BlockBuilder body = new BlockBuilder();
            rows.eachLine(body, conv.output(), (row, n, y) -> {
                TapRange ky = TapRange.of(row, "y", y, TapRange.Axis.rows(conv.window(), conv.input()));
                int dilation = conv.window().dilationH();
                Expr line = row.let("line", rows.inputLine(0, add(ky.origin(), mul(ky.begin(), dilation))));
                line(row, new Line(rows, n, y, ky, line, WindowRows.before(row, rows, line, dilation)));
            });
            return body.build();
        }

        /**
         * A row of the output.
         *
         * @param ky the window's rows inside the input
         * @param first line of the first of them in the input's buffer
         * @param before number of them before the buffer wraps around
         */
        private record Line(Rows rows, Expr n, Expr y, TapRange ky, Expr first, Expr before) {}

        private void line(BlockBuilder row, Line line) {
            int width = conv.output().dim(2);
            int pixels = blocks.pixels();
            Interior interior = Interior.of(conv);
            int tiles = interior.size() / pixels;
            int whole = interior.begin() + tiles * pixels;
            row.loop("x", imm(0), imm(interior.begin()), (b, x) -> edge(b, line, x));
            inside(row, line, imm(interior.begin()), new Tiles(pixels, tiles));
            inside(row, line, imm(whole), new Tiles(interior.end() - whole, 1));
            row.loop("x", imm(interior.end()), imm(width), (b, x) -> edge(b, line, x));
        }

        /** A number of tiles side by side, of some pixels each. */
        private record Tiles(int pixels, int count) {}

        private void edge(BlockBuilder block, Line line, Expr x) {
            TapRange kx = TapRange.of(block, "x", x, TapRange.Axis.columns(conv.window(), conv.input()));
            tiles(block, new Call(line, x, kx, new Tiles(1, 1)));
        }

        /** Pixels whose windows lie inside the input's width; channels behind the last whole block tile by tile. */
        private void inside(BlockBuilder row, Line line, Expr begin, Tiles tiles) {
            if (tiles.pixels * tiles.count == 0) {
                return;
            }
            if (rest.isEmpty()) {
                row.block(block -> tiles(block, new Call(line, begin, all(begin), tiles)));
                return;
            }
            Expr end = add(begin, (long) tiles.pixels * tiles.count);
            Tiles one = new Tiles(tiles.pixels, 1);
            row.loop("x", begin, end, tiles.pixels, (b, x) -> tiles(b, new Call(line, x, all(x), one)));
        }

        private TapRange all(Expr x) {
            Window w = conv.window();
            return new TapRange(sub(mul(x, w.strideW()), imm(w.padLeft())), imm(0), imm(w.kernelW()), w.kernelW());
        }

        /**
         * What all calls for some pixels share.
         *
         * @param x first pixel
         * @param kx columns of the window inside the input
         */
        private record Call(Line line, Expr x, TapRange kx, Tiles tiles) {}

        private void tiles(BlockBuilder block, Call at) {
            Window w = conv.window();
            int cin = conv.channelsPerGroup();
            Line line = at.line;
            Expr column = add(at.kx.origin(), at.kx.begin());
            Expr pixel = add(
                    mul(
                            add(mul(line.n, conv.input().dim(1)), line.first),
                            conv.input().dim(2)),
                    column);
            Buffer in = block.view("in", input, mul(pixel, cin));
            Expr tap = mul(add(mul(line.ky.begin(), w.kernelW()), at.kx.begin()), (long) cin * blocks.channels());
            Expr row = add(mul(line.n, conv.output().dim(1)), line.rows.outputLine(line.y));
            Expr out = block.let("pixel", mul(add(mul(row, conv.output().dim(2)), at.x), conv.channels()));
            int whole = conv.channels() / blocks.channels();
            if (whole > 0) {
                call(block, at, new Part(in, tap, 0, whole), block.mutableView("out", output, out), conv.channels());
            }
            rest.forEach(scratch -> {
                call(block, at, new Part(in, tap, whole, 1), scratch, blocks.channels());
                copy(block, scratch, at.tiles.pixels, add(out, (long) whole * blocks.channels()));
            });
        }

        /** Some blocks of channels: the first input and tap, the first block, their number. */
        private record Part(Buffer in, Expr tap, int first, int count) {}

        private void call(BlockBuilder block, Call at, Part part, Buffer out, int outStride) {
            Window w = conv.window();
            int cin = conv.channelsPerGroup();
            int rowElements = conv.input().dim(2) * cin;
            int rowTaps = w.kernelW() * cin;
            int channels = blocks.channels();
            long firstWeight = (long) part.first * channels * conv.taps();
            String suffix = part.first == 0 ? "" : "_rest";
            Expr taps = mul(at.kx.count(), cin);
            List<Expr> scalars = new ArrayList<>(List.of(
                    imm((long) w.strideW() * cin),
                    imm(outStride),
                    at.line.ky.count(),
                    at.line.before,
                    taps,
                    imm((long) w.dilationH() * rowElements),
                    imm((long) WindowRows.ring(at.line.rows) * rowElements),
                    mul(sub(imm(rowTaps), taps), channels),
                    mul(sub(imm(w.kernelH()), at.line.ky.count()), (long) rowTaps * channels),
                    imm(part.count),
                    imm(at.tiles.count)));
            scalars.addAll(limits.arguments(conv.op()));
            block.call(
                    blocks.of(at.tiles.pixels).kernel(limits),
                    List.of(
                            part.in,
                            block.view("w" + suffix, weights, add(part.tap, firstWeight)),
                            block.view("b" + suffix, bias, imm((long) part.first * channels)),
                            out),
                    scalars);
        }

        private void copy(BlockBuilder block, Buffer scratch, int pixels, Expr to) {
            for (int p = 0; p < pixels; p++) {
                for (int c = 0; c < left(); c++) {
                    Expr value = load(scratch, imm((long) p * blocks.channels() + c));
                    block.store(output, add(to, (long) p * conv.channels() + c), value);
                }
            }
        }
    }
}
