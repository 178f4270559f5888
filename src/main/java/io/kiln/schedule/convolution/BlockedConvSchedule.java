// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.div;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.shr;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.BiasTable;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.parts.PixelBlocks;
import io.kiln.schedule.parts.ScalarRequantize;
import io.kiln.schedule.parts.WindowCopy;
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
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/** Convolutions for Cortex-M and RISC-V without SIMD. */
public record BlockedConvSchedule(String name) implements Schedule<BlockedConvSchedule.Rescaling> {
    /** Whether results are rescaled separately, after the sums. */
    private static final String APART = "rescaled_apart";

    /** Whether instructions are interleaved so that few of them wait for the previous one. */
    private static final String INTERLEAVED = "interleaved";

    /** Whether two weights share a word, so that one multiplication makes two products. */
    private static final String PAIRS = "weight_pairs";

    /**
     * The conversion of sums to output elements.
     *
     * @param proven the rescaling by one multiplication; empty for the reference's own steps
     */
    record Rescaling(Optional<ScalarRequantize> proven) {}

    @Override
    public Optional<Rescaling> applies(Workload workload) {
        if (!workload.isPlainInt8()) {
            return Optional.empty();
        }
        boolean hasTogether = !together(workload).isEmpty();
        Rescaling rescaling = new Rescaling(hasTogether ? BlockedLoops.rescale(workload) : Optional.empty());
        return Optional.of(rescaling).filter(r -> !loops(workload, r, false).isEmpty());
    }

    /**
     * The inner loops for a layer.
     *
     * @param inPairs those with pairs of weights, or all others
     */
    private static List<BlockedSums> loops(Workload workload, Rescaling rescaling, boolean inPairs) {
        if (inPairs) {
            boolean isPlain = !workload.conv().depthwise() && workload.conv().groups() == 1;
            return (isPlain ? BlockedLoops.inPairs(workload) : List.<BlockedSums>of())
                    .stream()
                            .filter(sums -> suits(workload, sums))
                            .filter(sums -> sums.apart().isPresent()
                                    ? BiasTable.isFoldedIfFilled(workload.conv())
                                    : rescaling.proven.isPresent())
                            .toList();
        }
        Stream<BlockedSums> together = rescaling.proven.isPresent() ? together(workload).stream() : Stream.of();
        return Stream.concat(together, apart(workload).stream()).toList();
    }

    /** Those whose kernels rescale, the best first. */
    private static List<BlockedSums> together(Workload workload) {
        return BlockedLoops.of(workload).stream()
                .filter(sums -> suits(workload, sums))
                .toList();
    }

    private static List<BlockedSums> apart(Workload workload) {
        return BlockedLoops.apart(workload).stream()
                .filter(sums -> suits(workload, sums))
                .filter(sums -> BiasTable.isFoldedIfFilled(workload.conv()))
                .toList();
    }

    /** Whether the shape fits: not grouped, a block of pixels in a run. */
    private static boolean suits(Workload workload, BlockedSums sums) {
        ConvComputation conv = workload.conv();
        return conv.groups() == 1
                && !conv.depthwise()
                && conv.kernelZeroPoint() == 0
                && run(conv, workload.rows()) >= sums.pixels()
                && !(sums.pairsInputs() && hasLeast(conv));
    }

    /** Whether a weight is -128; two of its products with -128 overflow 16 bits. */
    private static boolean hasLeast(ConvComputation conv) {
        for (int i = 0; i < conv.weight().data().size(); i++) {
            if (conv.weight().data().buffer().get(i) == Byte.MIN_VALUE) {
                return true;
            }
        }
        return false;
    }

    /**
     * Least number of consecutive pixels in the output: all of them, or a row if the caller gives rows or holds them in
     * rings.
     */
    private static int run(ConvComputation conv, Rows rows) {
        int width = conv.output().dim(2);
        return rows.areContiguous() && rows.parameters().isEmpty()
                ? width * conv.output().dim(1)
                : width;
    }

    @Override
    public Space space(Workload workload, Rescaling rescaling) {
        List<BlockedSums> loops = new ArrayList<>(loops(workload, rescaling, false));
        loops.addAll(loops(workload, rescaling, true));
        List<Configuration> all = loops.stream().map(this::configuration).toList();
        return Space.of(
                        name(),
                        Knob.of("pixels", sizes(loops, BlockedSums::pixels)),
                        Knob.of("channels", sizes(loops, BlockedSums::channels)),
                        FourBitWeights.knob(workload.conv()),
                        flag(APART, loops, sums -> sums.apart().isPresent()),
                        flag(INTERLEAVED, loops, BlockedSums::interleaved),
                        flag(PAIRS, loops, sums -> sums.weightPairs().isPresent()))
                .where(all::contains);
    }

    private static Knob flag(String name, List<BlockedSums> loops, Predicate<BlockedSums> isOn) {
        return loops.stream().anyMatch(isOn) ? Knob.flag(name, false, true) : Knob.flag(name, false);
    }

    private static int[] sizes(List<BlockedSums> loops, ToIntFunction<BlockedSums> size) {
        return loops.stream().mapToInt(size).sorted().distinct().toArray();
    }

    private Configuration configuration(BlockedSums sums) {
        Configuration sizes =
                Configuration.of(name()).with("pixels", sums.pixels()).with("channels", sums.channels());
        return FourBitWeights.packed(sizes, sums.pairsWeights())
                .withFlag(APART, sums.apart().isPresent())
                .withFlag(INTERLEAVED, sums.interleaved())
                .withFlag(PAIRS, sums.weightPairs().isPresent());
    }

    @Override
    public LayerLoops lower(ConvTask task, Rescaling rescaling, Configuration configuration) {
        BlockedSums sums = loops(task.workload(), rescaling, configuration.isOn(PAIRS)).stream()
                .filter(s -> configuration(s).equals(configuration))
                .findFirst()
                .orElseThrow();
        return new Loops(task, sums, rescaling.proven).loops(task);
    }

    /** Uses the core's best loop, unless weights should be packed two to a byte for size and this loop does not support that. */
    public Optional<Choice<Rescaling>> choose(Workload workload) {
        if (!BlockedLoops.isFor(workload) || !workload.isPlainInt8()) {
            return Optional.empty();
        }
        BlockedSums best = BlockedLoops.of(workload).get(0);
        boolean packs = best.pairsWeights() || !FourBitWeights.pack(workload);
        List<BlockedSums> apart = apart(workload);
        boolean isFew = BlockedLoops.areFew(workload.conv()) && !apart.isEmpty();
        if (packs && !isFew && suits(workload, best)) {
            Optional<ScalarRequantize> proven = BlockedLoops.rescale(workload);
            if (proven.isPresent()) {
                String reason = "no SIMD: blocks of pixels and channels share loads";
                return Optional.of(choice(best, proven, reason));
            }
        }
        String reason = "no SIMD: blocks share loads; few pixels or channels, or no single multiply proven to rescale";
        return apart.stream().findFirst().map(sums -> choice(sums, Optional.empty(), reason));
    }

    private Choice<Rescaling> choice(BlockedSums sums, Optional<ScalarRequantize> proven, String reason) {
        return new Choice<>(this, new Rescaling(proven), configuration(sums), reason);
    }

    /**
     * Convolution for cores without SIMD: a few neighbouring pixels times a few output channels, so that every input and
     * every weight is loaded once for several products. {@link BlockedSums} has the loop of each core and its registers.
     *
     * <pre>
     * weights: per block of channels [tap][channel of the block], so that one pointer walks through them; the last block is filled up
     * scratch: the windows of the pixels, borders filled with the zero point: one after another, or two pixels in a word; none for 1x1
     *          where inputs are taken one by one
     * </pre>
     */
    static final class Loops extends LayerCode {
        /** Factor of the second pixel in a word. */
        private static final long SECOND = 65_536;

        private final BlockedSums sums;
        private final Tables tables;
        private final End end;
        private final boolean flat;
        private final Buffer columns;
        private final WindowCopy copy;
        private final Optional<PairedWindows> pairs;
        private final boolean isForSize;

        /** Computes and rescales all channels of a block of pixels, given its inputs, their weights and its first pixel in the output. */
        private interface End {
            void emit(BlockBuilder block, Buffer in, Buffer weights, Expr pixel);
        }

        /**
         * Makes tables and reserves scratch.
         *
         * @param rescale the rescaling; empty if it is separate from the sums
         */
        Loops(ConvTask task, BlockedSums sums, Optional<ScalarRequantize> rescale) {
            super(task);
            OperatorBuffers buffers = task.buffers();
            this.sums = sums;
            this.tables = task.tables();
            this.flat = conv.isFlat();
            this.columns = sums.pairsInputs()
                    ? buffers.scratch(DType.INT32, taps(conv, sums))
                    : flat ? input : buffers.scratch(DType.INT8, (long) sums.pixels() * conv.taps());
            this.copy = new WindowCopy(task, input, columns);
            this.isForSize = task.isForSize();
            this.pairs = sums.pairsInputs() && PairedWindows.suits(task)
                    ? Optional.of(new PairedWindows(task, input, columns))
                    : Optional.empty();
            this.end = sums.apart().isPresent() ? apart(task) : together(rescale.orElseThrow());
        }

        /** Number of taps including fillers, because pairs are summed. */
        private static int taps(ConvComputation conv, BlockedSums sums) {
            return sums.pairsInputs() ? (conv.taps() + 1) / 2 * 2 : conv.taps();
        }

        LayerLoops loops(ConvTask task) {
            return new LayerLoops(body(), task.workload().macs(), rowBlock()).sharing(sums.pixels());
        }

        /** Rows that are whole blocks of pixels together; otherwise some pixels are computed twice. */
        private int rowBlock() {
            int rows = 1;
            while (rows * conv.output().dim(2) % sums.pixels() != 0) {
                rows++;
            }
            return rows;
        }

        private Stmt body() {
            BlockBuilder body = new BlockBuilder();
            Buffer weights = packWeights();
            int width = conv.output().dim(2);
            Expr begin = rows.firstLine(conv.output());
            Expr end = rows.endLine(conv.output());
            if (taps(conv, sums) > conv.taps()) {
                body.store(columns, imm(conv.taps()), imm(0));
            }
            body.loop("n", conv.output().dim(0), (batch, n) -> {
                Expr image = mul(n, (long) conv.output().dim(1) * width);
                if (rows.areContiguousInRange()) {
                    Expr place = batch.let("place", add(image, mul(rows.outputShift(), width)));
                    PixelBlocks.loop(
                            batch,
                            mul(begin, width),
                            mul(end, width),
                            sums.pixels(),
                            (block, q) ->
                                    this.end.emit(block, inputs(block, n, new Run(imm(0), q)), weights, add(place, q)));
                    return;
                }
                batch.loop("y", begin, end, (row, y) -> {
                    Expr line = add(image, mul(rows.outputLine(y), width));
                    PixelBlocks.loop(
                            row,
                            width,
                            sums.pixels(),
                            (block, x) -> this.end.emit(block, inputs(block, n, new Run(y, x)), weights, add(line, x)));
                });
            });
            return body.build();
        }

        /** Start of a block: pixel {@code x} counted from row {@code y} on, possibly beyond its end. */
        private record Run(Expr y, Expr x) {}

        /** A kernel that rescales. */
        private End together(ScalarRequantize rescale) {
            Buffer constants = rescale.table(tables, sums.assembly().isPresent() ? sums.channels() : 1);
            Kernel kernel = new BlockedKernel(sums, rescale).kernel();
            List<Expr> scalars = new ArrayList<>(List.of(imm(taps(conv, sums)), imm(conv.channels())));
            if (!sums.pairsInputs()) {
                scalars.add(imm(conv.taps()));
            }
            scalars.add(imm(conv.channels()));
            scalars.addAll(rescale.scalars(
                    sums.assembly().map(BlockedAssembly::shiftsSums).orElse(false)));
            return (block, in, weights, pixel) -> {
                Buffer out = block.mutableView("out", output, mul(pixel, conv.channels()));
                block.call(kernel, List.of(in, weights, constants, out), scalars);
            };
        }

        private End apart(ConvTask task) {
            ApartRequantize rescale = new ApartRequantize(task, sums, taps(conv, sums));
            return (block, in, weights, pixel) -> rescale.emit(block, in, weights, mul(pixel, conv.channels()));
        }

        /** The windows of the block's pixels. */
        private Buffer inputs(BlockBuilder block, Expr n, Run run) {
            if (flat) {
                return flatInputs(block, n, run);
            }
            if (pairs.isPresent()) {
                pairs.get().emit(block, rows, n, pixel(run, 0), pixel(run, 1), b -> windows(b, n, run));
            } else {
                windows(block, n, run);
            }
            return columns;
        }

        /** Row and column of a pixel of a block. */
        private PairedWindows.Pixel pixel(Run run, int pixel) {
            Expr q = add(run.x(), pixel);
            if (!rows.areContiguousInRange()) {
                return new PairedWindows.Pixel(run.y(), q);
            }
            return new PairedWindows.Pixel(
                    line(q), sub(q, mul(line(q), conv.output().dim(2))));
        }

        /** The windows of the block's pixels, with borders. */
        private void windows(BlockBuilder block, Expr n, Run run) {
            if (sums.pairsInputs()) {
                copy.clear(block, 1 + SECOND);
            }
            int width = conv.output().dim(2);
            block.loop("p", sums.pixels(), (pixel, p) -> {
                Expr q = pixel.let("q", add(run.x(), p));
                boolean inRow = !rows.areContiguousInRange();
                Expr y = inRow ? run.y() : pixel.let("y", line(q));
                Expr x = inRow ? q : pixel.let("column", sub(q, mul(y, width)));
                if (sums.pairsInputs()) {
                    copy.accumulate(pixel, rows, n, y, x, add(mul(p, SECOND - 1), 1));
                } else {
                    copy.emit(pixel, rows, n, y, x, mul(p, conv.taps()));
                }
            });
        }

        /**
         * The line of a pixel: its number divided by the width, by a multiplication, because a core without division may
         * lack long multiplications too, and compilers do not know how small the number is.
         */
        private Expr line(Expr pixel) {
            long width = conv.output().dim(2);
            long most = conv.output().dim(1) * width;
            int shift = Long.SIZE - Long.numberOfLeadingZeros(most * width);
            long factor = ((1L << shift) + width - 1) / width;
            return most * factor <= Integer.MAX_VALUE ? shr(mul(pixel, factor), imm(shift)) : div(pixel, imm(width));
        }

        /** The pixels themselves, or pairs of them. */
        private Buffer flatInputs(BlockBuilder block, Expr n, Run run) {
            Expr row = rows.areContiguousInRange() ? rows.inputShift(0) : rows.inputLine(0, run.y());
            Expr line = add(mul(n, conv.input().dim(1)), row);
            Buffer in = block.view("in", input, mul(add(mul(line, conv.input().dim(2)), run.x()), conv.taps()));
            if (!sums.pairsInputs()) {
                return in;
            }
            if (isForSize) {
                block.loop("i", conv.taps(), (element, i) -> {
                    Expr second = mul(load(in, add(i, conv.taps())), SECOND);
                    element.store(columns, i, add(load(in, i), second));
                });
                return columns;
            }
            Buffer second = block.view("second_input", in, imm(conv.taps()));
            block.call(PairedWindows.kernel(conv.taps()), List.of(in, second, columns), List.of());
            return columns;
        }

        private Buffer packWeights() {
            int[] packed = packed(conv, sums.channels(), taps(conv, sums));
            if (sums.apart().filter(BlockedSums.Body.Apart::areWeightsMoved).isPresent()) {
                Arrays.setAll(packed, i -> packed[i] ^ Byte.MIN_VALUE);
            }
            Optional<WeightPairs> pairs = sums.weightPairs();
            if (pairs.isPresent()) {
                return pairs.get().table(tables, packed);
            }
            if (sums.pairsWeights()) {
                return sums.sumsWeights()
                        ? FourBitWeights.sums("weight", packed, tables)
                        : FourBitWeights.halves("weight", DType.INT8, packed, tables);
            }
            return tables.add("weight", DType.INT8, packed);
        }

        private static int[] packed(ConvComputation conv, int block, int taps) {
            int blocks = (conv.channels() + block - 1) / block;
            int[] packed = new int[blocks * block * taps];
            for (int o = 0; o < conv.channels(); o++) {
                int at = o / block * block * taps + o % block;
                for (int tap : conv.taps(o)) {
                    packed[at] = tap;
                    at += block;
                }
            }
            return packed;
        }
    }
}
