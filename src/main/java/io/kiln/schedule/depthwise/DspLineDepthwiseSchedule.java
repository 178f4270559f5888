// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.lt;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.select;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.DspEpilogue;
import io.kiln.schedule.convolution.DspPaddedRows;
import io.kiln.schedule.convolution.DspRequantize;
import io.kiln.schedule.depthwise.DspLineKernel.Layout;
import io.kiln.schedule.depthwise.DspLineKernel.Line;
import io.kiln.schedule.depthwise.DspLineKernel.Span;
import io.kiln.schedule.depthwise.DspLineKernel.Steps;
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
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Depthwise convolutions of narrow rows and with large windows on Cortex-M with the DSP extension. */
public record DspLineDepthwiseSchedule(String name) implements Schedule<DspRequantize> {
    /** Range of immediate offsets. */
    private static final int REACH = 4095;

    /** Most outputs whose sums fit the registers beside two words of weights. */
    private static final int MOST_OUTPUTS = 8;

    /** Fewer outputs share too few loads of inputs and weights. */
    private static final int LEAST_OUTPUTS = 5;

    /** Largest number of taps of straight code. */
    private static final int MOST_TAPS = 64;

    /** Cycles of eight taps where four channels of two outputs are computed together, and of the rest of an output. */
    private static final int TAPS_IN_BLOCK = 19;

    private static final int OUTPUT_IN_BLOCK = 8;

    /** Cycles of a call. */
    private static final int CALL = 50;

    @Override
    public Optional<DspRequantize> applies(Workload workload) {
        return workload.features().hasDsp()
                        && workload.isPlainInt8()
                        && suits(workload.conv())
                        && outputs(workload.conv()).length > 0
                ? DspRequantize.of(workload.conv(), true)
                : Optional.empty();
    }

    private static boolean suits(ConvComputation conv) {
        Window w = conv.window();
        return conv.isOneToOne() && w.kernelW() > 1 && w.dilationW() == 1 && conv.taps() <= MOST_TAPS;
    }

    /** The numbers of outputs for which there are registers, and offsets that reach. */
    private static int[] outputs(ConvComputation conv) {
        return IntStream.rangeClosed(1, Math.min(MOST_OUTPUTS, conv.output().dim(2)))
                .filter(outputs -> isPossible(conv, outputs))
                .toArray();
    }

    private static boolean isPossible(ConvComputation conv, int outputs) {
        List<Line> lines = Loops.lines(conv, outputs);
        List<Integer> words = lines.get(0).words();
        return outputs * conv.channels() <= REACH
                && lines.stream()
                        .allMatch(line -> line.inputs() > 0
                                && line.words().equals(words)
                                && line.fitsRegisters()
                                && line.place(line.rows() - 1, line.inputs() - 1) <= REACH);
    }

    @Override
    public Space space(Workload workload, DspRequantize rescale) {
        return Space.of(name(), Knob.of("outputs", outputs(workload.conv())));
    }

    @Override
    public long loopEnds(Workload workload, DspRequantize rescale, Configuration configuration) {
        return cycles(workload.conv(), rescale, configuration.number("outputs"));
    }

    /** About how many cycles a row takes. */
    private static long cycles(ConvComputation conv, DspRequantize rescale, int outputs) {
        List<Line> lines = Loops.lines(conv, outputs);
        boolean areApart = Loops.areApart(conv);
        long parts = areApart ? 1 : (conv.output().dim(2) + outputs - 1L) / outputs;
        int copied = areApart ? 0 : conv.window().kernelH() * DspPaddedRows.pitch(conv);
        long cycles = lines.stream()
                .mapToLong(line ->
                        CALL + (long) conv.channels() * new DspLineKernel(line, DspEpilogue.of(rescale)).cycles())
                .sum();
        return parts * cycles + copied;
    }

    @Override
    public LayerLoops lower(ConvTask task, DspRequantize rescale, Configuration configuration) {
        return new Loops(task, rescale, configuration.number("outputs")).loops();
    }

    /**
     * Of narrow rows, and of 3x3 windows where rows are computed one by one: two of them at a time, by {@link DspDepthwiseSchedule}, take as long or less.
     */
    public Optional<Choice<DspRequantize>> chooseApart(Workload workload) {
        ConvComputation conv = workload.conv();
        int width = conv.output().dim(2);
        boolean areOneByOne =
                isThreeByThree(conv.window()) && !DspColumnDepthwiseSchedule.Loops.isWhole(workload.rows());
        String reason =
                "depthwise with few rows in a window: the sums of neighbouring outputs of a channel in registers";
        return choose(workload, reason).filter(choice -> Loops.areApart(conv)).filter(choice -> {
            int outputs = choice.configuration().number("outputs");
            return outputs == width || (areOneByOne && outputs >= LEAST_OUTPUTS);
        });
    }

    private static boolean isThreeByThree(Window w) {
        return w.kernelH() == 3 && w.kernelW() == 3;
    }

    /** Of all that take fewer cycles than four channels at a time do, by {@link DspWindowDepthwiseSchedule}. */
    public Optional<Choice<DspRequantize>> choose(Workload workload) {
        return choose(workload, "depthwise with a large window: neighbouring outputs share the taps of a channel")
                .filter(choice -> {
                    ConvComputation conv = workload.conv();
                    long outputs = (long) conv.output().dim(2) * conv.channels();
                    return loopEnds(workload, choice.evidence(), choice.configuration())
                            < outputs * (OUTPUT_IN_BLOCK + TAPS_IN_BLOCK * conv.taps() / 8);
                });
    }

    private Optional<Choice<DspRequantize>> choose(Workload workload, String reason) {
        if (workload.isForSize()) {
            return Optional.empty();
        }
        return applies(workload).map(rescale -> {
            int outputs = IntStream.of(outputs(workload.conv()))
                    .boxed()
                    .min(Comparator.comparing(count -> cycles(workload.conv(), rescale, count)))
                    .orElseThrow();
            String stored = Loops.lines(workload.conv(), outputs).get(0).hasBytes() ? ", weights stored as bytes" : "";
            return new Choice<>(this, rescale, Configuration.of(name()).with("outputs", outputs), reason + stored);
        });
    }

    /**
     * Depthwise convolution on Cortex-M with the DSP extension, channel by channel, with the sums of some neighbouring outputs in registers, by
     * {@link DspLineKernel}.
     *
     * <pre>
     * few rows in a window: they are read where they lie, those outside the input from a table; parts of a row at its ends know their padding
     * others: the rows under a line of windows are copied with their padding ({@link DspPaddedRows})
     * left over: the last outputs of a row overlap the ones before
     * weights: per channel the padding's shares in sums, [row][word of two taps], 16 bits each, then the constants
     * layers of few rows: the weights are bytes, [row][word of the taps of two words], which the kernel widens
     * </pre>
     */
    static final class Loops extends LayerCode {
        /** Readings of a table up to which its bytes count more than the cycles that widen them, two for each word of a row. */
        private static final int MOST_READINGS = 8;

        /** Bytes that must be saved: the code that widens them takes some, too. */
        private static final int LEAST_SAVED = 64;

        private final DspRequantize rescale;
        private final List<Line> lines;
        private final Line line;
        private final DspEpilogue epilogue;
        private final Buffer weights;
        private final Buffer outside;
        private final Buffer source;
        private final DspPaddedRows padded;

        /**
         * Packs weights and reserves scratch.
         *
         * @param outputs neighbouring outputs computed together
         */
        Loops(ConvTask task, DspRequantize rescale, int outputs) {
            super(task);
            this.rescale = rescale;
            this.lines = lines(conv, outputs);
            this.line = lines.get(0);
            this.epilogue = DspEpilogue.of(rescale);
            this.weights = task.tables().add("weight", DType.INT32, pack());
            this.outside = line.isApart() && hasRowsOutside(conv)
                    ? task.tables().add("padding", DType.INT8, rowOutside())
                    : input;
            this.source = line.isApart() ? input : task.buffers().scratch(DType.INT8, DspPaddedRows.scratchBytes(conv));
            this.padded = new DspPaddedRows(conv, input, source);
        }

        private static boolean hasRowsOutside(ConvComputation conv) {
            return conv.window().padTop() + conv.window().padBottom() > 0;
        }

        /**
         * The parts of a row of the output, from left to right: of a row whose rows of inputs are apart the one with the padding on the left, all those
         * without, and the one with the padding on the right; otherwise a single kind.
         *
         * @param outputs how many outputs each has
         */
        static List<Line> lines(ConvComputation conv, int outputs) {
            Window w = conv.window();
            int width = conv.output().dim(2);
            Steps steps = new Steps(w.kernelH(), w.kernelW(), w.strideW());
            int columns = (outputs - 1) * w.strideW() + w.kernelW();
            if (!areApart(conv)) {
                Layout layout = Layout.of(conv.channels(), DspPaddedRows.pitch(conv), hasBytes(conv, outputs));
                return List.of(new Line(steps, new Span(outputs, 0, columns), layout));
            }
            List<Line> lines = new ArrayList<>();
            Layout layout = Layout.of(conv.channels(), 0, hasBytes(conv, outputs));
            for (int first : firstOutputs(width, outputs)) {
                int begin = first * w.strideW() - w.padLeft();
                int lead = Math.max(0, -begin);
                int inputs = Math.min(conv.input().dim(2) - Math.max(0, begin), columns - lead);
                lines.add(new Line(steps, new Span(outputs, lead, inputs), layout));
            }
            return withShares(lines);
        }

        /** Whether weights are bytes, because few lines of outputs read them. */
        private static boolean hasBytes(ConvComputation conv, int outputs) {
            long lines = (long) conv.output().dim(0) * conv.output().dim(1);
            int saved =
                    conv.channels() * conv.window().kernelH() * (conv.window().kernelW() + 1) / 4 * Integer.BYTES;
            return saved >= LEAST_SAVED && lines * ((conv.output().dim(2) + outputs - 1) / outputs) <= MOST_READINGS;
        }

        /** Whether windows have few rows, so that there are registers for their addresses. */
        static boolean areApart(ConvComputation conv) {
            return conv.window().kernelH() <= DspLineKernel.MOST_ROWS_APART;
        }

        /** The first output of each part of a row; the last part may overlap the one before. */
        private static List<Integer> firstOutputs(int width, int outputs) {
            List<Integer> all = new ArrayList<>();
            for (int first = 0; first + outputs < width; first += outputs) {
                all.add(first);
            }
            all.add(width - outputs);
            return all;
        }

        private static List<Line> withShares(List<Line> lines) {
            int all = lines.stream().mapToInt(line -> line.padded().size()).sum();
            List<Line> shared = new ArrayList<>();
            int before = 0;
            for (Line line : lines) {
                shared.add(line.withShares(before, all));
                before += line.padded().size();
            }
            return shared;
        }

        LayerLoops loops() {
            int width = conv.output().dim(2);
            long computed = (width + line.outputs() - 1L) / line.outputs() * line.outputs();
            long macs = conv.output().elements() / width * computed * conv.taps();
            return new LayerLoops(body(), macs).sharing(line.outputs());
        }

        private Bytes rowOutside() {
            int columns = lines.stream().mapToInt(Line::inputs).max().orElseThrow();
            byte[] row = new byte[columns * conv.channels()];
            Arrays.fill(row, (byte) conv.inputZeroPoint());
            return Bytes.wrap(row);
        }

        private int[] pack() {
            List<Integer> words = new ArrayList<>();
            int scale = rescale.isSummed() ? DspRequantize.LEAST_SCALE_BITS : 0;
            for (int c = 0; c < conv.channels(); c++) {
                int[] sums = sumsOfTaps(c);
                for (Line part : lines) {
                    for (int output : part.padded()) {
                        words.add((conv.inputZeroPoint() * part.paddedShare(output, sums)) << scale);
                    }
                }
                for (int ky = 0; ky < line.rows(); ky++) {
                    putRow(c, ky, scale, words);
                }
                rescale.put(c, words);
            }
            return words.stream().mapToInt(Integer::intValue).toArray();
        }

        private void putRow(int channel, int ky, int scale, List<Integer> words) {
            List<Integer> all = line.words();
            for (int i = 0; i < all.size(); i++) {
                int first = weight(channel, ky, all.get(i));
                int second = weight(channel, ky, all.get(i) + 1);
                if (!line.isInBytes(i)) {
                    words.add(((first << scale) & 0xFFFF) | (second << (scale + 16)));
                } else if (i % 2 == 0) {
                    words.add((first & 0xFF) | (second & 0xFF) << 16);
                } else {
                    int last = words.size() - 1;
                    words.set(last, words.get(last) | (first & 0xFF) << 8 | second << 24);
                }
            }
        }

        private int weight(int channel, int ky, int kx) {
            return kx < line.taps() ? conv.tap(channel, ky, kx, 0) : 0;
        }

        /** For each column of the window the sum of a channel's weights. */
        private int[] sumsOfTaps(int channel) {
            int[] sums = new int[line.taps()];
            for (int ky = 0; ky < line.rows(); ky++) {
                for (int kx = 0; kx < line.taps(); kx++) {
                    sums[kx] += conv.tap(channel, ky, kx, 0);
                }
            }
            return sums;
        }

        private Stmt body() {
            BlockBuilder body = new BlockBuilder();
            if (!line.isApart()) {
                padded.begin(body);
            }
            rows.eachLine(body, conv.output(), (row, n, y) -> {
                Expr to = row.let(
                        "to_line",
                        mul(
                                add(mul(n, conv.output().dim(1)), rows.outputLine(y)),
                                (long) conv.output().dim(2) * conv.channels()));
                if (line.isApart()) {
                    apart(row, n, y, to);
                } else {
                    wide(row, n, y, to);
                }
            });
            return body.build();
        }

        /** A row of the output, from rows where they lie. */
        private void apart(BlockBuilder block, Expr n, Expr y, Expr to) {
            Window w = conv.window();
            Expr top = block.let("top", sub(mul(y, w.strideH()), imm(w.padTop())));
            List<Expr> scalars = new ArrayList<>();
            for (int ky = 0; ky < w.kernelH(); ky++) {
                scalars.add(block.let("row" + ky, place(n, add(top, (long) ky * w.dilationH()))));
            }
            scalars.addAll(epilogue.arguments());
            List<Integer> first = firstOutputs(conv.output().dim(2), line.outputs());
            int part = 0;
            while (part < lines.size()) {
                int end = part + 1;
                while (end < lines.size() - 1 && lines.get(end).isLike(lines.get(part))) {
                    end++;
                }
                Line same = lines.get(part);
                String suffix = part == 0 ? "" : "_" + part;
                Expr begin = imm(first.get(part));
                if (end - part == 1) {
                    part(block, suffix, same, begin, to, scalars);
                } else {
                    long last = first.get(part) + (long) (end - part) * line.outputs();
                    block.loop(
                            "x" + suffix,
                            begin,
                            imm(last),
                            line.outputs(),
                            (b, x) -> part(b, suffix, same, x, to, scalars));
                }
                part = end;
            }
        }

        private void part(BlockBuilder block, String suffix, Line part, Expr x, Expr to, List<Expr> scalars) {
            Window w = conv.window();
            long column = (long) w.strideW() * conv.channels();
            long padding = (long) (w.padLeft() - part.lead()) * conv.channels();
            Buffer in = block.view("in" + suffix, input, sub(mul(x, column), imm(padding)));
            Buffer out = block.mutableView("out" + suffix, output, add(to, mul(x, conv.channels())));
            block.call(new DspLineKernel(part, epilogue).kernel(), List.of(in, outside, weights, out), scalars);
        }

        /** Offset of a row from the input; negative outside. */
        private Expr place(Expr n, Expr row) {
            int height = conv.input().dim(1);
            Expr offset = mul(
                    add(mul(n, height), rows.inputLine(0, row)),
                    (long) conv.input().dim(2) * conv.channels());
            if (!hasRowsOutside(conv)) {
                return offset;
            }
            return select(lt(row, imm(0)), imm(-1), select(lt(row, imm(height)), offset, imm(-1)));
        }

        /** A row of the output, in groups of outputs. */
        private void wide(BlockBuilder block, Expr n, Expr y, Expr to) {
            padded.line(block, rows, n, y);
            int width = conv.output().dim(2);
            int whole = width / line.outputs() * line.outputs();
            block.loop("x", imm(0), imm(whole), line.outputs(), (b, x) -> group(b, "", x, to));
            if (whole < width) {
                group(block, "_last", imm((long) width - line.outputs()), to);
            }
        }

        private void group(BlockBuilder block, String suffix, Expr x, Expr to) {
            long step = (long) conv.window().strideW() * conv.channels();
            Buffer in = block.view("in" + suffix, source, add(padded.firstInput(), mul(x, step)));
            Buffer out = block.mutableView("out" + suffix, output, add(to, mul(x, conv.channels())));
            block.call(new DspLineKernel(line, epilogue).kernel(), List.of(in, weights, out), epilogue.arguments());
        }
    }
}
