// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.DspConvSchedule;
import io.kiln.schedule.convolution.DspConvShape;
import io.kiln.schedule.convolution.DspEpilogue;
import io.kiln.schedule.convolution.DspPaddedRows;
import io.kiln.schedule.convolution.DspRequantize;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Depthwise convolutions with large windows on Cortex-M with the DSP extension. */
public record DspWindowDepthwiseSchedule(String name) implements Schedule<DspRequantize> {
    private static final int BLOCK = DspColumnDepthwiseSchedule.Loops.BLOCK;

    /** Range of immediate offsets. */
    private static final int REACH = 4095;

    /** Largest number of taps of straight code. */
    private static final int MOST_TAPS = 64;

    @Override
    public Optional<DspRequantize> applies(Workload workload) {
        return workload.features().hasDsp() && workload.isPlainInt8() && suits(workload.conv())
                ? DspRequantize.of(workload.conv(), true)
                : Optional.empty();
    }

    private static boolean suits(ConvComputation conv) {
        return conv.isOneToOne()
                && conv.channels() >= BLOCK
                && conv.taps() <= MOST_TAPS
                && Loops.reach(conv) + BLOCK <= REACH;
    }

    @Override
    public Space space(Workload workload, DspRequantize rescale) {
        Knob pixels = together(workload.conv()) == 2 ? Knob.of("pixels", 1, 2) : Knob.of("pixels", 1);
        return Space.of(
                name(), pixels, Knob.of("channel_block", BLOCK), Knob.flag(DspConvSchedule.PAIRED, false, true));
    }

    /** Pixels that share inputs: they must be one column apart. */
    private static int together(ConvComputation conv) {
        Window w = conv.window();
        boolean areNeighbours = w.strideW() == 1 && (w.dilationW() == 1 || w.kernelW() == 1);
        return areNeighbours && conv.output().dim(2) > 1 ? 2 : 1;
    }

    @Override
    public LayerLoops lower(ConvTask task, DspRequantize rescale, Configuration configuration) {
        return new Loops(task, rescale, configuration.number("pixels"), configuration.isOn(DspConvSchedule.PAIRED))
                .loops();
    }

    /** Unless size is optimized. */
    public Optional<Choice<DspRequantize>> choose(Workload workload) {
        if (workload.isForSize()) {
            return Optional.empty();
        }
        return applies(workload).map(rescale -> {
            Configuration configuration = Configuration.of(name())
                    .with("pixels", together(workload.conv()))
                    .with("channel_block", BLOCK);
            String reason =
                    "depthwise with a large window: four channels share a load, neighbouring pixels share inputs and"
                            + " weights";
            return new Choice<>(this, rescale, configuration, reason);
        });
    }

    /**
     * Depthwise convolution with a window too large for registers, on Cortex-M with the DSP extension: two neighbouring pixels at a time, which
     * share inputs and weights, by {@link DspColumnDepthwiseSchedule.DspColumnKernel}.
     *
     * <pre>
     * scratch: the rows under a line of windows, with their padding ({@link DspPaddedRows}); none for windows of one row without padding
     * weights: as {@link DspColumnDepthwiseSchedule} has them
     * left over: an odd pixel alone; channels left over by fours in a block that overlaps the one before
     * </pre>
     */
    static final class Loops extends LayerCode {
        private static final int BLOCK = DspColumnDepthwiseSchedule.Loops.BLOCK;

        private final DspEpilogue epilogue;
        private final int together;
        private final boolean isPaired;
        private final Buffer weights;
        private final Buffer source;
        private final DspPaddedRows padded;

        /**
         * Packs weights and reserves scratch.
         *
         * @param together pixels computed together
         * @param isPaired see {@link DspConvShape}
         */
        Loops(ConvTask task, DspRequantize rescale, int together, boolean isPaired) {
            super(task);
            this.epilogue = DspEpilogue.of(rescale);
            this.together = together;
            this.isPaired = isPaired;
            this.weights =
                    task.tables().add("weight", DType.INT32, DspColumnDepthwiseSchedule.Loops.pack(conv, rescale));
            this.source = isCopied(conv) ? task.buffers().scratch(DType.INT8, DspPaddedRows.scratchBytes(conv)) : input;
            this.padded = new DspPaddedRows(conv, input, source);
        }

        /** Whether windows are read from copied rows. */
        private static boolean isCopied(ConvComputation conv) {
            return conv.window().isPadded() || conv.window().kernelH() > 1;
        }

        /** Bytes from the first input of a window to behind its last one. */
        static long reach(ConvComputation conv) {
            Window w = conv.window();
            long lines = (w.kernelH() - 1L) * DspPaddedRows.pitch(conv);
            return lines + (long) w.spanW() * conv.channels() + conv.channels();
        }

        LayerLoops loops() {
            long channels = (conv.channels() + BLOCK - 1L) / BLOCK * BLOCK;
            return new LayerLoops(body(), conv.output().elements() / conv.channels() * channels * conv.taps())
                    .sharing(2);
        }

        private Stmt body() {
            BlockBuilder body = new BlockBuilder();
            if (isCopied(conv)) {
                padded.begin(body);
            }
            rows.eachLine(body, conv.output(), (row, n, y) -> line(row, n, y));
            return body.build();
        }

        private void line(BlockBuilder row, Expr n, Expr y) {
            int width = conv.output().dim(2);
            if (isCopied(conv)) {
                padded.line(row, rows, n, y);
            }
            Expr line = add(mul(n, conv.output().dim(1)), rows.outputLine(y));
            Expr to = row.let("to_line", mul(line, (long) width * conv.channels()));
            Expr from = row.let("from_line", isCopied(conv) ? padded.firstInput() : inputLine(n, y));
            row.loop(
                    "x",
                    imm(0),
                    imm((long) width / together * together),
                    together,
                    (b, x) -> pixels(b, "", new Pixels(from, to, x, together)));
            if (width % together != 0) {
                pixels(row, "_last", new Pixels(from, to, imm(width - 1L), 1));
            }
        }

        private Expr inputLine(Expr n, Expr y) {
            Expr line = add(
                    mul(n, conv.input().dim(1)),
                    rows.inputLine(0, mul(y, conv.window().strideH())));
            return mul(line, (long) conv.input().dim(2) * conv.channels());
        }

        /**
         * Neighbouring pixels.
         *
         * @param from element of the source at which the line's first window begins
         * @param to element of the output at which the line begins
         * @param first the first one's column
         * @param count how many
         */
        private record Pixels(Expr from, Expr to, Expr first, int count) {}

        /** All channels of one or two pixels. */
        private void pixels(BlockBuilder block, String suffix, Pixels pixels) {
            int whole = conv.channels() / BLOCK;
            call(block, suffix, pixels, 0, whole);
            if (conv.channels() % BLOCK != 0) {
                call(block, "_rest" + suffix, pixels, conv.channels() - BLOCK, 1);
            }
        }

        private void call(BlockBuilder block, String suffix, Pixels pixels, int channel, int blocks) {
            Window w = conv.window();
            Expr from = add(pixels.from, mul(pixels.first, (long) w.strideW() * conv.channels()));
            Buffer in = block.view("in" + suffix, source, add(from, channel));
            Buffer out = block.mutableView(
                    "out" + suffix, output, add(add(pixels.to, mul(pixels.first, conv.channels())), channel));
            int all = (conv.channels() + BLOCK - 1) / BLOCK;
            Buffer words = channel == 0
                    ? weights
                    : block.view("w" + suffix, weights, imm(weights.elements() / all * (all - 1L)));
            DspColumnDepthwiseSchedule.DspColumnKernel.Taps taps = new DspColumnDepthwiseSchedule.DspColumnKernel.Taps(
                    w.kernelW(), w.dilationW() * conv.channels(), w.kernelH(), DspPaddedRows.pitch(conv));
            DspColumnDepthwiseSchedule.DspColumnKernel kernel = new DspColumnDepthwiseSchedule.DspColumnKernel(
                    taps, conv.channels(), pixels.count, epilogue, isPaired);
            List<Expr> scalars = new ArrayList<>(List.of(imm(blocks)));
            scalars.addAll(epilogue.arguments());
            block.call(kernel.kernel(), List.of(in, words, out), scalars);
        }
    }
}
