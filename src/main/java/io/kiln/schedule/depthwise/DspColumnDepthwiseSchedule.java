// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.kernels.depthwise.Jtedsp_columnsGenerated;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.DspConvSchedule;
import io.kiln.schedule.convolution.DspConvShape;
import io.kiln.schedule.convolution.DspEpilogue;
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
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelSheet;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Depthwise convolutions over time on Cortex-M with the DSP extension. */
public record DspColumnDepthwiseSchedule(String name) implements Schedule<DspRequantize> {
    private static final int BLOCK = Loops.BLOCK;

    /** Range of immediate offsets. */
    private static final int REACH = 4095;

    @Override
    public Optional<DspRequantize> applies(Workload workload) {
        return workload.features().hasDsp() && workload.isPlainInt8() && suits(workload.conv())
                ? DspRequantize.of(workload.conv(), true)
                : Optional.empty();
    }

    private static boolean suits(ConvComputation conv) {
        Window w = conv.window();
        return conv.isOneToOne()
                && conv.channels() >= BLOCK
                && conv.channels() + BLOCK <= REACH
                && conv.output().dim(2) == 1
                && w.kernelW() == 1
                && !w.isPadded()
                && (long) w.kernelH() * w.dilationH() * Loops.rowElements(conv) <= REACH;
    }

    @Override
    public Space space(Workload workload, DspRequantize rescale) {
        Knob rows = together(workload) == 2 ? Knob.of("rows", 1, 2) : Knob.of("rows", 1);
        return Space.of(name(), rows, Knob.of("channel_block", BLOCK), Knob.flag(DspConvSchedule.PAIRED, false, true));
    }

    /** Rows of the output that share inputs: they must be one input row apart. */
    private static int together(Workload workload) {
        ConvComputation conv = workload.conv();
        Window w = conv.window();
        boolean isWhole = Loops.isWhole(workload.rows());
        return isWhole
                        && w.strideH() == 1
                        && w.dilationH() == 1
                        && conv.output().dim(1) > 1
                ? 2
                : 1;
    }

    @Override
    public LayerLoops lower(ConvTask task, DspRequantize rescale, Configuration configuration) {
        return new Loops(task, rescale, configuration.number("rows"), configuration.isOn(DspConvSchedule.PAIRED))
                .loops();
    }

    /** Unless size is optimized. */
    public Optional<Choice<DspRequantize>> choose(Workload workload) {
        if (workload.isForSize()) {
            return Optional.empty();
        }
        return applies(workload).map(rescale -> {
            Configuration configuration =
                    Configuration.of(name()).with("rows", together(workload)).with("channel_block", BLOCK);
            String reason =
                    "depthwise over time: four channels share a load, rows computed together share inputs and weights";
            return new Choice<>(this, rescale, configuration, reason);
        });
    }

    /**
     * Depthwise convolution over time, one column wide and without padding, on Cortex-M with the DSP extension: two rows of the output at
     * a time, which share inputs and weights, by {@link DspColumnKernel}.
     *
     * <pre>
     * scratch: none
     * rows: where input rows lie in a ring, one row of the output at a time, with the place of each input row as an argument
     * weights: per block of four channels [tap][channels 0 and 2, channels 1 and 3], 16 bits each, then the constants of the channels
     * left over: an odd row alone; channels left over by fours in a block that overlaps the one before
     * </pre>
     */
    static final class Loops extends LayerCode {
        static final int BLOCK = 4;
        private final DspRequantize rescale;
        private final int together;
        private final boolean isPaired;
        private final Buffer weights;

        /**
         * Packs weights.
         *
         * @param together number of output rows computed together
         * @param isPaired see {@link DspConvShape}
         */
        Loops(ConvTask task, DspRequantize rescale, int together, boolean isPaired) {
            super(task);
            Tables tables = task.tables();
            this.rescale = rescale;
            this.together = together;
            this.isPaired = isPaired;
            this.weights = tables.add("weight", DType.INT32, pack(conv, rescale));
        }

        LayerLoops loops() {
            long channels = (conv.channels() + BLOCK - 1L) / BLOCK * BLOCK;
            return new LayerLoops(body(), conv.output().elements() / conv.channels() * channels * conv.taps())
                    .sharing(2);
        }

        static int rowElements(ConvComputation conv) {
            return conv.input().dim(2) * conv.channels();
        }

        /** Weights by line of the window and tap, and constants. */
        static int[] pack(ConvComputation conv, DspRequantize rescale) {
            List<Integer> words = new ArrayList<>();
            for (int first = 0; first < conv.channels(); first += BLOCK) {
                int o = Math.min(first, conv.channels() - BLOCK);
                for (int ky = 0; ky < conv.window().kernelH(); ky++) {
                    for (int kx = 0; kx < conv.window().kernelW(); kx++) {
                        words.add(word(conv, rescale, o, ky, kx));
                        words.add(word(conv, rescale, o + 1, ky, kx));
                    }
                }
                for (int c = o; c < o + BLOCK; c++) {
                    rescale.put(c, words);
                }
            }
            return words.stream().mapToInt(Integer::intValue).toArray();
        }

        /** Weights of a channel and of the channel two further on. */
        private static int word(ConvComputation conv, DspRequantize rescale, int channel, int ky, int kx) {
            int scale = rescale.isSummed() ? DspRequantize.LEAST_SCALE_BITS : 0;
            int low = conv.tap(channel, ky, kx, 0) << scale;
            int high = conv.tap(channel + 2, ky, kx, 0) << scale;
            return (low & 0xFFFF) | (high << 16);
        }

        private Stmt body() {
            BlockBuilder body = new BlockBuilder();
            if (!isWhole(rows)) {
                rows.eachLine(body, conv.output(), (b, n, y) -> rowApart(b, n, y));
                return body.build();
            }
            int height = conv.output().dim(1);
            body.loop("n", conv.output().dim(0), (batch, n) -> {
                batch.loop(
                        "y",
                        imm(0),
                        imm((long) height / together * together),
                        together,
                        (b, y) -> rows(b, "", n, y, together));
                if (height % together != 0) {
                    rows(batch, "_last", n, imm(height - 1L), 1);
                }
            });
            return body.build();
        }

        /** Whether all rows are computed, and lie one after the other. */
        static boolean isWhole(Rows rows) {
            return rows.parameters().isEmpty() && rows.areContiguous();
        }

        /** A row of the output whose input rows may lie in a ring. */
        private void rowApart(BlockBuilder block, Expr n, Expr y) {
            Window w = conv.window();
            List<Expr> offsets = new ArrayList<>();
            for (int ky = 0; ky < w.kernelH(); ky++) {
                Expr row = add(mul(y, w.strideH()), (long) ky * w.dilationH());
                Expr line = add(mul(n, conv.input().dim(1)), rows.inputLine(0, row));
                offsets.add(block.let("row" + ky, mul(line, rowElements(conv))));
            }
            Expr line = add(mul(n, conv.output().dim(1)), rows.outputLine(y));
            DspColumnKernel kernel = new DspColumnKernel(
                    DspColumnKernel.Taps.line(w.kernelH(), 0), conv.channels(), 1, DspEpilogue.of(rescale), isPaired);
            blocks(block, "", imm(0), mul(line, conv.channels()), kernel, offsets);
        }

        /** Some consecutive rows of the output. */
        private void rows(BlockBuilder block, String suffix, Expr n, Expr y, int count) {
            Window w = conv.window();
            Expr top = add(mul(n, conv.input().dim(1)), mul(y, w.strideH()));
            Expr from = mul(top, rowElements(conv));
            Expr to = mul(add(mul(n, conv.output().dim(1)), y), conv.channels());
            DspColumnKernel.Taps column = DspColumnKernel.Taps.line(w.kernelH(), w.dilationH() * rowElements(conv));
            DspColumnKernel kernel =
                    new DspColumnKernel(column, conv.channels(), count, DspEpilogue.of(rescale), isPaired);
            blocks(block, suffix, from, to, kernel, List.of());
        }

        /** All channels of a row or two. */
        private void blocks(
                BlockBuilder block, String suffix, Expr from, Expr to, DspColumnKernel kernel, List<Expr> offsets) {
            int whole = conv.channels() / BLOCK;
            call(block, suffix, new Block(from, to, weights, whole), kernel, offsets);
            if (conv.channels() % BLOCK != 0) {
                int channel = conv.channels() - BLOCK;
                Buffer rest = block.view("rest" + suffix, weights, imm(weights.elements() / (whole + 1) * whole));
                call(
                        block,
                        "_rest" + suffix,
                        new Block(add(from, channel), add(to, channel), rest, 1),
                        kernel,
                        offsets);
            }
        }

        /** Blocks of channels: their first elements, their weights and how many they are. */
        private record Block(Expr from, Expr to, Buffer weights, int count) {}

        private void call(
                BlockBuilder block, String suffix, Block channels, DspColumnKernel kernel, List<Expr> offsets) {
            Buffer in = block.view("in" + suffix, input, channels.from);
            Buffer out = block.mutableView("out" + suffix, output, channels.to);
            List<Expr> scalars = new ArrayList<>(List.of(imm(channels.count)));
            scalars.addAll(kernel.epilogue().arguments());
            scalars.addAll(offsets);
            block.call(kernel.kernel(), List.of(in, channels.weights, out), scalars);
        }
    }

    /**
     * The micro-kernel of {@link DspColumnDepthwiseSchedule} and {@link DspWindowDepthwiseSchedule}: one or two outputs along the taps, in blocks of four channels.
     *
     * @param window taps
     * @param outBytes bytes from an output to the next
     * @param rows outputs
     * @param epilogue the rescaling of the sums
     * @param isPaired see {@link DspConvShape}; where the offset reaches
     */
    public record DspColumnKernel(Taps window, int outBytes, int rows, DspEpilogue epilogue, boolean isPaired) {
        /**
         * The taps of a window: those that two outputs share follow each other in a line.
         *
         * @param taps taps of a line
         * @param tapBytes bytes from a tap's input to the next; 0 if they are parameters, because rows lie in a ring
         * @param lines lines of taps
         * @param lineBytes bytes from a line to the next
         */
        public record Taps(int taps, int tapBytes, int lines, int lineBytes) {
            /** A single line. */
            static Taps line(int taps, int tapBytes) {
                return new Taps(taps, tapBytes, 1, 0);
            }

            /** Taps of all lines. */
            public int all() {
                return taps * lines;
            }

            private String suffix() {
                return lines == 1
                        ? taps + (areApart() ? "_apart" : "_row" + tapBytes)
                        : lines + "x" + taps + "_row" + tapBytes + "_line" + lineBytes;
            }

            /** Whether rows lie in a ring, so that the place of each is a parameter. */
            public boolean areApart() {
                return tapBytes == 0;
            }

            /** The taps, in words. */
            public String inWords() {
                if (lines > 1) {
                    return lines + " lines, " + lineBytes + " bytes apart, of " + taps + " taps, " + tapBytes
                            + " bytes apart";
                }
                return taps + " rows, " + (areApart() ? "at offsets" : tapBytes + " bytes apart");
            }

            /** C's expression for the input of a tap of an output. */
            public String place() {
                if (lines > 1) {
                    return String.format(
                            Locale.ROOT, "tap / %d * %d + (row + tap %% %d) * %d", taps, lineBytes, taps, tapBytes);
                }
                return areApart() ? "offsets[tap]" : "(row + tap) * " + tapBytes;
            }
        }

        private String name() {
            return "kiln_column_" + window.suffix() + "_out" + outBytes + "_rows" + rows + (isPaired ? "_paired" : "")
                    + epilogue.suffix();
        }

        /** {@code (x, w, out, blocks[, late][, rows])}; a row is its offset from x. */
        Kernel kernel() {
            List<String> parameters = new ArrayList<>(epilogue.kernelParameters());
            for (int tap = 0; tap < window.taps && window.areApart(); tap++) {
                parameters.add("int32_t row" + tap);
            }
            return epilogue.kernel(
                    name(),
                    parameters.size() - epilogue.kernelParameters().size(),
                    KernelSheet.text((out, html) -> Jtedsp_columnsGenerated.render(
                            out, html, name(), window, outBytes, rows, epilogue, isPaired, parameters)));
        }
    }
}
