// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.lt;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.select;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.kernels.depthwise.Jtemve_tileGenerated;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.MveEpilogue;
import io.kiln.schedule.convolution.MveRequantize;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerCode;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Workload;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import io.kiln.tir.Stmt;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Depthwise convolutions with strides of 1 on MVE. */
public record MveTileSchedule(String name) implements Schedule<MveRequantize> {
    /** Larger windows would take too much code. */
    private static final int MOST_VECTORS = 8;

    @Override
    public Optional<MveRequantize> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        return workload.features().hasMve() && workload.isPlainInt8() && conv.depthwise() && suits(conv)
                ? MveRequantize.of(conv).filter(MveTileSchedule::suits)
                : Optional.empty();
    }

    private static boolean suits(ConvComputation conv) {
        Window w = conv.window();
        return w.strideH() == 1
                && w.strideW() == 1
                && w.dilationH() == 1
                && w.dilationW() == 1
                && w.kernelH() > 1
                && w.kernelW() > 1
                && (Loops.every(conv) <= 2 || Loops.every(conv) == 4)
                && conv.output().dim(1) >= Loops.TILE
                && conv.output().dim(2) >= Loops.TILE
                && Loops.vectors(conv) <= MOST_VECTORS;
    }

    /** Constants of a channel are scalars here, with which ONNX Runtime's rounding has no instructions. */
    private static boolean suits(MveRequantize rescale) {
        int zero = rescale.requantization().outputZeroPoint();
        return MveEpilogue.of(rescale).floor().isEmpty() && rescale.low() <= zero && rescale.high() >= zero;
    }

    /** Where the program computes row by row, a single row has the loops of {@link MveDepthwiseSchedule}. */
    @Override
    public LayerLoops lower(ConvTask task, MveRequantize rescale, Configuration configuration) {
        Rows rows = task.rows();
        return rows.parameters().isEmpty() || rows.block() > 1
                ? new Loops(task, rescale).loops()
                : new MveDepthwiseSchedule.Loops(task, rescale, MveDepthwiseSchedule.keeps(task.conv())).loops();
    }

    /** Unless rows are so narrow that starting one for each channel costs more than it saves, or size is optimized: weights and code take more flash. */
    public Optional<Choice<MveRequantize>> choose(Workload workload) {
        return applies(workload)
                .filter(rescale -> !isNarrow(workload.conv()))
                .filter(rescale -> !workload.isForSize())
                .map(rescale -> new Choice<>(
                        this,
                        rescale,
                        Configuration.of(name()),
                        "two by two results of a channel from one patch (MVE), exact in 32 bits"));
    }

    /** Counted: a channel of two rows costs 30 cycles and 17 for each two columns; one pixel of a channel costs 7 otherwise. */
    private static boolean isNarrow(ConvComputation conv) {
        return conv.output().dim(2) < 4 && Loops.vectors(conv) == 1;
    }

    /**
     * Depthwise convolution with strides of 1 on MVE, two by two results at a time: the rows under two rows of windows are interleaved in scratch, and one
     * patch of a channel is multiplied by the weights of four windows; see {@link MveTileKernel}.
     *
     * <pre>
     * scratch   see {@link MveInterleaved}, for some pixels of two rows
     * weights   of each channel zero, three columns, zero if a patch is one vector, else [vector][result][word][row of the word], zeros where a window has no
     *           tap; then bias, multiplier and shift
     * </pre>
     *
     * <p>If an input channel has several output channels, the first ones of all input channels are computed, then the second ones, and so on. Padding has the
     * value of the zero point, which is folded into the bias. An odd last column is computed with the one before once more; an odd last
     * row alone.
     */
    static final class Loops extends LayerCode {
        /** Rows, and columns, of the results that are computed together. */
        static final int TILE = 2;

        private static final int WORDS = 4;

        private final MveRequantize rescale;
        private final Buffer scratch;
        private final Buffer offsets;
        private final List<Buffer> packed;
        private final MveTileKernel kernel;
        private final MveInterleaved inputs;

        /** Packs weights and reserves scratch. */
        Loops(ConvTask task, MveRequantize rescale) {
            super(task);
            Tables tables = task.tables();
            OperatorBuffers buffers = task.buffers();
            this.rescale = rescale;
            this.inputs = new MveInterleaved(conv, TILE);
            this.scratch = buffers.scratch(DType.INT8, inputs.scratchBytes());
            this.kernel = new MveTileKernel(
                    vectors(conv),
                    inputs.isEven(WORDS),
                    every(conv),
                    MveEpilogue.of(rescale),
                    rescale.low() == -128 && rescale.high() == 127);
            this.offsets = tables.add("offsets", DType.INT32, inputs.offsets(WORDS * kernel.vectors()));
            this.packed = new ArrayList<>();
            for (int m = 0; m < kernel.every(); m++) {
                packed.add(tables.add("packed" + (m == 0 ? "" : "_" + m), DType.INT32, pack(m)));
            }
        }

        /** Output channels of an input channel. */
        static int every(ConvComputation conv) {
            return conv.channels() / conv.input().dim(3);
        }

        /** Vectors under the windows of two by two results of a convolution. */
        static int vectors(ConvComputation conv) {
            return (new MveInterleaved(conv, TILE).words() + WORDS - 1) / WORDS;
        }

        LayerLoops loops() {
            int lines = (conv.output().dim(1) + TILE - 1) / TILE;
            int columns = (conv.output().dim(2) + TILE - 1) / TILE;
            long patches = (long) conv.output().dim(0) * lines * columns * conv.channels();
            return new LayerLoops(body(), patches * TILE * TILE * 4 * WORDS * kernel.vectors(), TILE);
        }

        /** Those of the output channels with this index among those of an input channel. */
        private int[] pack(int first) {
            int size = kernel.weightWords() + kernel.constants();
            ByteBuffer table = ByteBuffer.allocate(conv.input().dim(3) * size * Integer.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN);
            for (int channel = first; channel < conv.channels(); channel += kernel.every()) {
                if (kernel.vectors() == 1) {
                    table.putInt(0);
                    put(table, channel, 0, 0);
                    table.putInt(0);
                } else {
                    for (int i = 0; i < kernel.vectors() * TILE * TILE; i++) {
                        put(table, channel, i / (TILE * TILE), i % (TILE * TILE));
                    }
                }
                rescale.putBlock(table, channel, 1, 1);
                if (kernel.end().any()) {
                    putShifts(table);
                }
            }
            int[] words = new int[table.capacity() / Integer.BYTES];
            table.flip().order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(words);
            return words;
        }

        /** Shifts to the right and to the left in place of one, then 1 if there is one to the right. */
        private static void putShifts(ByteBuffer table) {
            int place = table.position() - Integer.BYTES;
            int shift = table.getInt(place);
            table.putInt(place, Math.min(shift, 0)).putInt(Math.max(shift, 0)).putInt(shift < 0 ? 1 : 0);
        }

        /** The weights of a vector for a result; the fourth column of a single vector is behind the first window, and no byte is written. */
        private void put(ByteBuffer table, int channel, int vector, int result) {
            int columns = kernel.vectors() == 1 ? WORDS - 1 : WORDS;
            for (int i = 0; i < 4 * columns; i++) {
                table.put((byte) inputs.weight(channel, 4 * WORDS * vector + i, result / TILE, result % TILE));
            }
        }

        private Stmt body() {
            BlockBuilder body = new BlockBuilder();
            int width = conv.output().dim(2);
            Expr end = rows.endLine(conv.output());
            rows.eachLine(body, conv.output(), TILE, (row, n, y) -> {
                Expr lanes = row.let("lanes", select(lt(add(y, 1), end), imm(TILE * TILE), imm(TILE)));
                Expr line = mul(n, conv.output().dim(1));
                Expr first = row.let("first", add(line, rows.outputLine(y)));
                Expr second = row.let("second", sub(add(line, rows.outputLine(add(y, 1))), first));
                for (int x = 0; x < width; x += inputs.chunk()) {
                    int from = Math.min(x, width - TILE);
                    BlockBuilder part = new BlockBuilder();
                    int pixels = Math.min(inputs.chunk(), width - from);
                    inputs.copy(part, new MveInterleaved.Place(rows, input, scratch, n, y), from, pixels);
                    multiply(part, new Lines(first, second, lanes), from, pixels);
                    row.add(part.build());
                }
            });
            return body.build();
        }

        /** Lines of the output: the first one, how many lines behind it the second one is, and four if there is one, else two. */
        private record Lines(Expr first, Expr second, Expr lanes) {}

        /** Pixels of two rows of the output, from a column on. */
        private void multiply(BlockBuilder block, Lines lines, int column, int pixels) {
            long line = (long) conv.output().dim(2) * conv.channels();
            Expr place = block.let("place", add(mul(lines.first, line), (long) column * conv.channels()));
            for (int m = 0; m < kernel.every(); m++) {
                block.call(
                        kernel.kernel(),
                        List.of(
                                block.view("x" + m, scratch, imm(0)),
                                offsets,
                                packed.get(m),
                                block.mutableView("out" + m, output, add(place, m))),
                        List.of(
                                imm(pixels),
                                imm(conv.input().dim(3)),
                                imm(conv.channels()),
                                mul(lines.second, line),
                                lines.lanes,
                                imm(rescale.requantization().outputZeroPoint()),
                                imm(rescale.low()),
                                imm(rescale.high())));
            }
        }
    }

    /**
     * The kernel {@code depthwise/mve_tile} of {@link MveTileSchedule}: four results of a channel from one patch of its input.
     *
     * @param vectors of 16 bytes under the windows of two by two results
     * @param even whether each vector's words are as far from one another as the first one's, and vectors equally far apart
     * @param every output channels of an input channel, of which one is computed: 1, 2 or 4
     * @param end how sums become results, by TensorFlow Lite's steps
     * @param isFull whether the limits are those of int8
     */
    public record MveTileKernel(int vectors, boolean even, int every, MveEpilogue end, boolean isFull) {
        /** Whether results must be compared with limits. */
        public boolean isLimited() {
            return !isFull && hasLimits();
        }

        /** Whether saturation to int8 does it, by way of 16 bits. */
        public boolean isWide() {
            return isFull && hasLimits();
        }

        private boolean hasLimits() {
            return end.any() || end.limits();
        }

        /** Whether one vector of places is enough for several vectors of words. */
        public boolean isEven() {
            return even && vectors > 1;
        }

        /** Words of a channel's constants. */
        public int constants() {
            return end.any() ? 5 : 3;
        }

        /** Words of a channel's weights: those of one vector are moved to the other results in registers. */
        public int weightWords() {
            return vectors == 1 ? 5 : 16 * vectors;
        }

        /** {@code (x, offsets, packed, out, pixels, channels, pixel, second, lanes, zero_point, low, high)}. */
        Kernel kernel() {
            String name =
                    "kiln_mve_depthwise_tile" + (vectors == 1 ? "" : "_words" + 4 * vectors + (even ? "" : "_listed"))
                            + (every == 1 ? "" : "_every" + every) + end.suffix() + (isWide() ? "_wide" : "");
            return MveDepthwiseKernel.kernel(
                    name, 8, end, (out, html) -> Jtemve_tileGenerated.render(out, html, name, this));
        }
    }
}
