// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.MveEpilogue;
import io.kiln.schedule.convolution.MveRequantize;
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

/** Depthwise convolutions on MVE. */
public record MveDepthwiseSchedule(String name) implements Schedule<MveRequantize> {
    /** Larger windows would take too much code: offsets of the words' addresses are immediate. */
    private static final int MOST_PASSES = 24;

    /** Offsets between channels' results are immediate. */
    private static final int MOST_MULTIPLIER = 255;

    @Override
    public Optional<MveRequantize> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        boolean suits = workload.features().hasMve()
                && workload.isPlainInt8()
                && conv.depthwise()
                && Loops.shape(conv).passes() <= MOST_PASSES
                && Loops.shape(conv).multiplier() <= MOST_MULTIPLIER;
        return suits
                ? MveRequantize.of(conv)
                        .filter(r -> r.low() <= r.requantization().outputZeroPoint()
                                && r.high() >= r.requantization().outputZeroPoint())
                : Optional.empty();
    }

    private static int words(ConvComputation conv) {
        return new MveInterleaved(conv, 1).words();
    }

    @Override
    public Space space(Workload workload, MveRequantize rescale) {
        Knob kept = canKeep(workload.conv()) ? Knob.of("kept_weights", false, true) : Knob.of("kept_weights", false);
        return Space.of(name(), Knob.of("words", words(workload.conv())), kept);
    }

    @Override
    public LayerLoops lower(ConvTask task, MveRequantize rescale, Configuration configuration) {
        boolean isKept =
                configuration.value("kept_weights").filter("true"::equals).isPresent();
        return new Loops(task, rescale, isKept).loops();
    }

    /** Wherever it applies. */
    public Optional<Choice<MveRequantize>> choose(Workload workload) {
        return applies(workload).map(rescale -> {
            Configuration configuration = Configuration.of(name())
                    .with("words", words(workload.conv()))
                    .with("kept_weights", Boolean.toString(keeps(workload.conv())));
            String reason = "a channel's window gathered and multiplied at once (MVE), exact in 32 bits";
            return new Choice<>(this, rescale, configuration, reason);
        });
    }

    /** Whether weights stay in registers for a row of pixels if there is no measurement. */
    static boolean keeps(ConvComputation conv) {
        return canKeep(conv) && !isNarrow(conv);
    }

    /** Whether the registers are enough for a window's weights. */
    private static boolean canKeep(ConvComputation conv) {
        return Loops.shape(conv).fitsRegisters();
    }

    /** Counted: four channels of a row cost 60 cycles and 22 for each further pixel if weights are kept, else 46 for each pixel. */
    private static boolean isNarrow(ConvComputation conv) {
        return conv.output().dim(2) == 1;
    }

    /**
     * Depthwise convolution on MVE: the rows under a window are interleaved in scratch, so that the window of a channel is
     * a few words, of which one instruction gathers four and another multiplies and adds them; see {@link MveDepthwiseKernel}.
     *
     * <pre>
     * scratch   see {@link MveInterleaved}, for some pixels of a row
     * weights   of each four channels [four words][channel][word][row of the word], zeros where the window has no tap; then constants
     * </pre>
     *
     * <p>Padding has the value of the zero point, which is folded into the bias. Channels are processed in fours; the last
     * four overlap the ones before if channels are not a multiple of four. If an input channel has several output channels, the
     * first ones of all input channels are computed, then the second ones, and so on.
     */
    static final class Loops extends LayerCode {
        private static final int WORDS = 4;

        private final MveRequantize rescale;
        private final Buffer scratch;
        private final Buffer offsets;
        private final List<Groups> groups = new ArrayList<>();
        private final MveDepthwiseKernel kernel;
        private final MveDepthwiseKernel.Shape shape;
        private final MveInterleaved inputs;

        /** Number of consecutive groups of four input channels, and which of their output channels. */
        private record Groups(int channel, int output, int count, Buffer packed) {}

        /**
         * Packs weights and reserves scratch.
         *
         * @param keepsWeights whether weights stay in registers for a row of pixels
         */
        Loops(ConvTask task, MveRequantize rescale, boolean keepsWeights) {
            super(task);
            Tables tables = task.tables();
            OperatorBuffers buffers = task.buffers();
            this.rescale = rescale;
            this.inputs = new MveInterleaved(conv, 1);
            this.scratch = buffers.scratch(DType.INT8, inputs.scratchBytes());
            this.shape = shape(conv);
            this.kernel = new MveDepthwiseKernel(!keepsWeights, shape, MveEpilogue.of(rescale));
            this.offsets = tables.add("offsets", DType.INT32, inputs.offsets(WORDS * shape.passes()));
            int channels = conv.input().dim(3);
            for (int m = 0; m < shape.multiplier(); m++) {
                String suffix = m == 0 ? "" : "_" + m;
                int whole = Math.max(1, channels / 4);
                groups.add(new Groups(0, m, whole, tables.add("packed" + suffix, DType.INT32, pack(0, m, whole))));
                if (channels > 4 && channels % 4 != 0) {
                    int last = channels - 4;
                    Buffer packed = tables.add("packed_last" + suffix, DType.INT32, pack(last, m, 1));
                    groups.add(new Groups(last, m, 1, packed));
                }
            }
        }

        /** Windows and channels of a convolution. */
        static MveDepthwiseKernel.Shape shape(ConvComputation conv) {
            int passes = (new MveInterleaved(conv, 1).words() + WORDS - 1) / WORDS;
            int channels = conv.input().dim(3);
            return new MveDepthwiseKernel.Shape(passes, conv.channels() / channels, Math.min(4, channels));
        }

        LayerLoops loops() {
            return new LayerLoops(body(), executedMacs());
        }

        /** Multiply-accumulates of the loops: 16 in a pass for each output, channels by fours. */
        private long executedMacs() {
            long channels = (conv.input().dim(3) + 3) / 4 * 4L * shape.multiplier();
            return conv.output().elements() / conv.channels() * channels * 4 * WORDS * shape.passes();
        }

        private int[] pack(int first, int output, int count) {
            ByteBuffer table =
                    ByteBuffer.allocate(count * shape.groupWords() * 4).order(ByteOrder.LITTLE_ENDIAN);
            int every = shape.multiplier();
            for (int c = first; c < first + 4 * count; c += 4) {
                for (int i = 0; i < 4 * 4 * WORDS * shape.passes(); i++) {
                    int channel = (c + i / (4 * WORDS) % 4) * every + output;
                    table.put((byte) inputs.weight(channel, i / (16 * WORDS) * 4 * WORDS + i % (4 * WORDS), 0, 0));
                }
                rescale.putBlock(table, c * every + output, 4, every);
            }
            int[] words = new int[table.capacity() / 4];
            table.flip().order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(words);
            return words;
        }

        private Stmt body() {
            BlockBuilder body = new BlockBuilder();
            int width = conv.output().dim(2);
            rows.eachLine(body, conv.output(), (row, n, y) -> {
                for (int x = 0; x < width; x += inputs.chunk()) {
                    BlockBuilder part = new BlockBuilder();
                    int pixels = Math.min(inputs.chunk(), width - x);
                    inputs.copy(part, new MveInterleaved.Place(rows, input, scratch, n, y), x, pixels);
                    multiply(part, add(mul(n, conv.output().dim(1)), rows.outputLine(y)), x, pixels);
                    row.add(part.build());
                }
            });
            return body.build();
        }

        /** Pixels of a row of the output, from {@code first} on. */
        private void multiply(BlockBuilder block, Expr line, int first, int pixels) {
            Expr pixel = add(mul(line, conv.output().dim(2)), first);
            Expr place = block.let("place", mul(pixel, conv.channels()));
            for (Groups g : groups) {
                int channel = g.channel() * shape.multiplier() + g.output();
                Buffer x = block.view("x" + channel, scratch, imm(4L * g.channel()));
                Buffer out = block.mutableView("out" + channel, output, add(place, channel));
                block.call(
                        kernel.kernel(),
                        List.of(x, offsets, g.packed(), out),
                        List.of(
                                imm(pixels),
                                imm(inputs.step()),
                                imm(g.count()),
                                imm(conv.channels()),
                                imm(rescale.requantization().outputZeroPoint()),
                                imm(rescale.low()),
                                imm(rescale.high())));
            }
        }
    }
}
