// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.lower.Int16Requantize;
import io.kiln.lower.Limits;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapSums;
import io.kiln.schedule.parts.PixelTile;
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
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Stmt;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Depthwise convolutions of int16 data by one of the kernels of {@link Loops}. */
public record Int16DepthwiseSchedule(String name) implements Schedule<Int16DepthwiseSchedule.Evidence> {
    /**
     * Why it applies.
     *
     * @param kernel the core's kernel
     * @param layer what is proven
     */
    record Evidence(Int16DepthwiseKernel kernel, Int16DepthwiseLayer layer) {}

    @Override
    public Optional<Evidence> applies(Workload workload) {
        return Int16DepthwiseKernel.of(workload)
                .filter(kernel -> kernel.title().equals(name))
                .flatMap(kernel -> Int16DepthwiseLayer.of(workload.conv()).map(layer -> new Evidence(kernel, layer)));
    }

    @Override
    public Space space(Workload workload, Evidence evidence) {
        int most = mostPixels(workload.conv(), evidence.kernel);
        return Space.of(
                name, Knob.of("pixel_block", IntStream.rangeClosed(1, most).toArray()));
    }

    private static int mostPixels(ConvComputation conv, Int16DepthwiseKernel kernel) {
        return Math.min(kernel.pixels(), conv.output().dim(2));
    }

    @Override
    public LayerLoops lower(ConvTask task, Evidence evidence, Configuration configuration) {
        return new Loops(task, evidence.kernel, evidence.layer, configuration.number("pixel_block")).loops();
    }

    /** Unless size is optimized. */
    public Optional<Choice<Evidence>> choose(Workload workload) {
        return workload.isForSize() ? Optional.empty() : applies(workload).map(evidence -> choice(workload, evidence));
    }

    private Choice<Evidence> choice(Workload workload, Evidence evidence) {
        Configuration configuration =
                Configuration.of(name).with("pixel_block", mostPixels(workload.conv(), evidence.kernel));
        return new Choice<>(this, evidence, configuration, evidence.kernel.reason());
    }

    /**
     * Depthwise convolutions of int16 data by a {@link Int16DepthwiseKernel}: some neighbouring pixels of all channels in one call, a
     * block of channels after the other. Where their number is not a multiple of the block's, a separate call computes the last
     * ones, some of them again.
     *
     * <pre>
     * table: per block of channels: biases, weights [ky][kx][channel], multipliers
     * memory: no scratch
     * </pre>
     */
    static final class Loops extends LayerCode {
        private final Int16DepthwiseKernel kernel;
        private final Int16DepthwiseLayer layer;
        private final int pixels;
        private final Buffer table;

        /**
         * Makes the table.
         *
         * @param pixels most pixels computed together
         */
        Loops(ConvTask task, Int16DepthwiseKernel kernel, Int16DepthwiseLayer layer, int pixels) {
            super(task);
            this.kernel = kernel;
            this.layer = layer;
            this.pixels = pixels;
            this.table = task.tables().add("table", DType.INT32, packed());
        }

        /** First channels of all blocks. */
        private List<Integer> blocks() {
            int size = kernel.channels();
            List<Integer> first = new ArrayList<>();
            for (int block = 0; block < whole(); block++) {
                first.add(block * size);
            }
            if (whole() * size < conv.channels()) {
                first.add(Math.max(0, conv.channels() - size));
            }
            return first;
        }

        /** Number of whole blocks of channels. */
        private int whole() {
            return conv.channels() / kernel.channels();
        }

        private Bytes packed() {
            int taps = conv.taps();
            int words = kernel.blockWords(taps);
            List<Integer> blocks = blocks();
            ByteBuffer data =
                    ByteBuffer.allocate(blocks.size() * words * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            for (int first : blocks) {
                putEach(data, layer.biases(), first);
                int weights = data.position();
                for (int i = 0; i < taps * kernel.channels(); i++) {
                    int o = first + i % kernel.channels();
                    int tap = i / kernel.channels();
                    kernel.put(data, o < conv.channels() ? weight(o, tap) : 0);
                }
                data.position(weights + kernel.weightWords(taps) * Integer.BYTES);
                putEach(data, layer.multipliers(), first);
            }
            return Bytes.wrap(data.array());
        }

        private int weight(int o, int tap) {
            int width = conv.window().kernelW();
            return conv.tap(o, tap / width, tap % width, 0);
        }

        private void putEach(ByteBuffer data, List<Integer> values, int first) {
            for (int i = 0; i < kernel.channels(); i++) {
                int o = first + kernel.order(i);
                data.putInt(o < values.size() ? values.get(o) : 0);
            }
        }

        LayerLoops loops() {
            return new LayerLoops(body(), conv.macsInside()).sharing(pixels);
        }

        private Stmt body() {
            BlockBuilder body = new BlockBuilder();
            List<PixelTile.Run> runs = PixelTile.row(conv, pixels);
            rows.eachLine(body, conv.output(), (row, n, y) -> {
                WindowRows line = WindowRows.of(row, conv, rows, n, y);
                for (PixelTile.Run run : runs) {
                    int width = run.tile().pixels();
                    int last = run.x() + run.count() * width;
                    row.loop("x", imm(run.x()), imm(last), width, (b, x) -> tile(b, line, run.tile(), x));
                }
            });
            return body.build();
        }

        /** Neighbouring pixels from column {@code x} on. */
        private void tile(BlockBuilder block, WindowRows line, PixelTile tile, Expr x) {
            Window w = conv.window();
            int channels = conv.channels();
            Expr column = add(mul(x, w.strideW()), (long) tile.begin() - w.padLeft());
            Expr in = block.let("first", add(line.in(), mul(column, channels)));
            Expr out = block.let("pixel", add(line.out(), mul(x, channels)));
            int size = kernel.channels();
            int first = Math.max(0, channels - size);
            if (whole() > 0) {
                call(block, line, tile, new Blocks("", in, out, 0, whole()));
            }
            if (whole() * size < channels) {
                call(block, line, tile, new Blocks("_rest", add(in, first), add(out, first), whole(), 1));
            }
        }

        /** Some blocks of channels: where they begin in the input, in the output and among all blocks. */
        private record Blocks(String suffix, Expr in, Expr out, int first, int count) {}

        private void call(BlockBuilder block, WindowRows line, PixelTile tile, Blocks blocks) {
            Window w = conv.window();
            int row = conv.input().dim(2) * conv.channels();
            Int16DepthwiseKernel.Place place = new Int16DepthwiseKernel.Place(
                    tile, w.kernelH(), conv.channels(), w.dilationH() * row, line.wrap() * row, layer.isLimited());
            List<Expr> scalars = new ArrayList<>(
                    List.of(sub(line.ky().end(), line.ky().begin()), line.ky().begin(), imm(blocks.count)));
            if (line.wrap() > 0) {
                scalars.add(line.before());
            }
            if (layer.isLimited()) {
                scalars.add(imm(layer.limits().low()));
                scalars.add(imm(layer.limits().high()));
            }
            block.call(
                    kernel.kernel(place),
                    List.of(
                            block.view("in" + blocks.suffix, input, blocks.in),
                            block.view(
                                    "t" + blocks.suffix,
                                    table,
                                    imm((long) blocks.first * kernel.blockWords(conv.taps()))),
                            block.mutableView("out" + blocks.suffix, output, blocks.out)),
                    scalars);
        }
    }

    /**
     * What is proven of a depthwise layer of int16 data: every sum fits 32 bits with its bias, and a result is the upper half of
     * the sum times a multiplier, rounded, within limits.
     *
     * @param biases of each channel
     * @param multipliers of each channel
     * @param limits of the results
     */
    private record Int16DepthwiseLayer(List<Integer> biases, List<Integer> multipliers, Limits limits) {
        /** Of more channels, the pixels of a tile are too far apart in the output for the immediate offset of a store. */
        private static final int MOST_CHANNELS = 400;

        /** Columns of a window, which kernels have unrolled. */
        private static final int MOST_COLUMNS = 15;

        Int16DepthwiseLayer {
            biases = List.copyOf(biases);
            multipliers = List.copyOf(multipliers);
        }

        /** Whether a result may be less than the whole range of int16. */
        boolean isLimited() {
            return limits.low() != Short.MIN_VALUE || limits.high() != Short.MAX_VALUE;
        }

        /** The proof for a layer; empty if it is of another kind, or its sums may leave 32 bits, or its shape is left to plain loops. */
        static Optional<Int16DepthwiseLayer> of(ConvComputation conv) {
            return suits(conv) ? proven(conv) : Optional.empty();
        }

        private static boolean suits(ConvComputation conv) {
            return conv.depthwise()
                    && !conv.isTransposed()
                    && conv.dataType() == DType.INT16
                    && conv.channels() == conv.input().dim(3)
                    && conv.channels() <= MOST_CHANNELS
                    && conv.window().kernelW() <= MOST_COLUMNS
                    && conv.inputZeroPoint() == 0
                    && conv.kernelZeroPoint() == 0
                    && WindowRows.areInside(conv);
        }

        private static Optional<Int16DepthwiseLayer> proven(ConvComputation conv) {
            List<TapSums> sums = TapSums.of(conv);
            List<Long> biases = new ArrayList<>();
            long bound = 0;
            for (int o = 0; o < conv.channels(); o++) {
                int channel = o;
                long bias = conv.op().bias().map(b -> b.integer(channel)).orElse(0L);
                biases.add(bias);
                bound = Math.max(
                        bound, Math.abs(bias) - Short.MIN_VALUE * sums.get(o).magnitude());
            }
            Limits limits = Limits.of(conv.op());
            return Int16Requantize.high(conv.op(), conv.channels(), bound)
                    .map(multipliers -> new Int16DepthwiseLayer(
                            biases.stream().map(Long::intValue).toList(), multipliers, limits));
        }
    }
}
