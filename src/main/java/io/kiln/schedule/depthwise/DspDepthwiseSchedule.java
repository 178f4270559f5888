// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;
import static io.kiln.schedule.depthwise.DspDepthwiseShape.BLOCK;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.lt;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.select;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.kernels.depthwise.Jtedsp_rowsGenerated;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.DspConvSchedule;
import io.kiln.schedule.convolution.DspConvShape;
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
import io.kiln.tir.Kernel;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Depthwise convolutions on Cortex-M with the DSP extension. */
public record DspDepthwiseSchedule(String name) implements Schedule<DspDepthwiseEpilogue> {
    /** Largest number of words of weights in registers. */
    private static final int MOST_WEIGHTS = 6;
    /** Largest number of input rows with registers for their addresses. */
    private static final int MOST_INPUT_ROWS = 5;
    /** What is unrolled where code may have any size. */
    private static final DspDepthwiseKernel.Limits NONE = DspDepthwiseKernel.Limits.NONE;
    /** Cycles of a loop's end. */
    private static final int END = 9;
    /** Range of immediate offsets. */
    private static final int REACH = 4095;

    @Override
    public Optional<DspDepthwiseEpilogue> applies(Workload workload) {
        if (!workload.features().hasDsp() || !workload.isPlainInt8() || !suits(workload.conv())) {
            return Optional.empty();
        }
        return DspDepthwiseEpilogue.of(workload.conv());
    }

    private static boolean suits(ConvComputation conv) {
        if (!conv.depthwise() || !isWideEnough(conv)) {
            return false;
        }
        DspDepthwiseShape shape = DspDepthwiseShape.of(conv);
        return conv.channels() <= REACH
                && shape.inputColumns() * shape.channels() >= BLOCK
                && shape.inputRows(1) <= MOST_INPUT_ROWS
                && shape.weights() <= MOST_WEIGHTS
                && (shape.padLeft() + shape.spanW()) * shape.columnBytes() <= DspDepthwiseKernel.MOST_COLUMN_BYTES;
    }

    private static boolean isWideEnough(ConvComputation conv) {
        int channels = conv.input().dim(3);
        return channels >= DspDepthwiseShape.LEAST_CHANNELS && conv.channels() % channels == 0;
    }

    @Override
    public Space space(Workload workload, DspDepthwiseEpilogue rescale) {
        Knob rows = mostRows(workload.conv()) == 2 ? Knob.of("rows", 1, 2) : Knob.of("rows", 1);
        List<Knob> knobs = new ArrayList<>(List.of(rows, Knob.of("channel_block", BLOCK)));
        if (workload.codeBytes().isPresent()) {
            knobs.add(Knob.unusual(
                    "unroll", IntStream.rangeClosed(1, NONE.outputs()).toArray()));
            knobs.add(Knob.unusual(
                    "columns", IntStream.rangeClosed(1, NONE.columns()).toArray()));
            knobs.add(Knob.flag(Space.SHORT, false, true));
        }
        knobs.add(Knob.flag(DspConvSchedule.PAIRED, false, true));
        return new Space(
                name(),
                knobs,
                each -> each.isOn(Space.SHORT) == each.value("unroll").isPresent()
                        && each.isOn(Space.SHORT) == each.value("columns").isPresent());
    }

    /** Output rows that can be computed together. */
    private static int mostRows(ConvComputation conv) {
        DspDepthwiseShape shape = DspDepthwiseShape.of(conv);
        int below = (shape.width() + 1) * shape.outputs();
        boolean areNeighbours = conv.window().dilationH() == 1 || shape.kernelH() == 1;
        return areNeighbours
                        && shape.inputRows(2) <= MOST_INPUT_ROWS
                        && below <= REACH
                        && conv.output().dim(1) > 1
                ? 2
                : 1;
    }

    /** Of a block of channels and a pair of rows; one row at a time takes longer in any case. */
    @Override
    public long loopEnds(Workload workload, DspDepthwiseEpilogue rescale, Configuration configuration) {
        int rows = configuration.number("rows");
        DspDepthwiseShape shape = DspDepthwiseShape.of(workload.conv());
        DspDepthwiseKernel kernel = new DspDepthwiseKernel(shape, rows, limits(configuration), false, rescale);
        int outputs = turns(shape.width(), kernel.unroll());
        int columns = turns(shape.inputColumns(), kernel.unrolledColumns());
        return END * (BLOCK * (long) outputs + columns) + (rows == 1 ? Integer.MAX_VALUE : 0);
    }

    private static int turns(int count, int unroll) {
        return count <= unroll ? 0 : count / unroll;
    }

    private static DspDepthwiseKernel.Limits limits(Configuration configuration) {
        return new DspDepthwiseKernel.Limits(
                configuration.number("unroll", NONE.outputs()),
                configuration.number("columns", NONE.columns()),
                configuration.isOn(Space.SHORT));
    }

    @Override
    public LayerLoops lower(ConvTask task, DspDepthwiseEpilogue rescale, Configuration configuration) {
        boolean isPaired = configuration.isOn(DspConvSchedule.PAIRED);
        DspDepthwiseKernel.Limits limits = limits(configuration);
        return new Loops(task, rescale, configuration.number("rows"), limits, isPaired).loops();
    }

    /** Unless size is optimized. */
    public Optional<Choice<DspDepthwiseEpilogue>> choose(Workload workload) {
        if (workload.isForSize()) {
            return Optional.empty();
        }
        return applies(workload).map(rescale -> {
            Configuration configuration = Configuration.of(name())
                    .with("rows", mostRows(workload.conv()))
                    .with("channel_block", BLOCK);
            String reason = "depthwise on a core with SIMD on halves, "
                    + rescale.rescale().inWords();
            return new Choice<>(this, rescale, configuration, reason);
        });
    }

    /**
     * Depthwise convolution on Cortex-M with the DSP extension: two output rows at a time, or one if it is the last or the
     * next one is not adjacent, by {@link DspDepthwiseKernel}.
     *
     * <pre>
     * scratch: the input rows under the windows, of four channels, as 16 bits, times 256; columns of padding are filled once
     * weights: per channel pairs of rows as halves of a word, scaled by what the rescaling wants beside, then multiplier and offset
     * padding: a row of the input's zero point, read in place of rows outside the input
     * channels left over by fours: the last block overlaps the one before; fewer make a smaller block
     * several output channels for one of the input: they share the widened inputs
     * dilated windows: one row of the output at a time
     * </pre>
     *
     * <p>Rows of the output are written after all the input rows that they need are read, four channels at a time.
     */
    static final class Loops {
        /** Inputs are in the upper bytes of halfwords; the weights contain any further scale of the sums. */
        static final int INPUT_SCALE_BITS = 8;

        private final ConvComputation conv;
        private final DspDepthwiseShape shape;
        private final DspDepthwiseEpilogue epilogue;
        private final Rows rows;
        private final Buffer input;
        private final Buffer output;
        private final Buffer padding;
        private final Buffer table;
        private final Buffer scratch;
        private final int outputRows;
        private final DspDepthwiseKernel.Limits limits;
        private final boolean isPaired;

        LayerLoops loops() {
            long pixels = (long) conv.output().dim(0)
                    * conv.output().dim(1)
                    * conv.output().dim(2);
            int blocks = (shape.channels() + BLOCK - 1) / BLOCK;
            long macs = pixels * conv.taps() * shape.multiplier() * shape.block() * blocks;
            return new LayerLoops(body(), macs, outputRows)
                    .sharing((long) outputRows * conv.output().dim(2));
        }

        /**
         * Packs weights and reserves scratch.
         *
         * @param outputRows output rows computed together
         * @param limits what may be unrolled
         * @param isPaired see {@link DspConvShape}
         */
        Loops(
                ConvTask task,
                DspDepthwiseEpilogue epilogue,
                int outputRows,
                DspDepthwiseKernel.Limits limits,
                boolean isPaired) {
            Tables tables = task.tables();
            OperatorBuffers buffers = task.buffers();
            this.conv = task.conv();
            this.shape = DspDepthwiseShape.of(conv);
            this.epilogue = epilogue;
            this.rows = task.rows();
            this.input = buffers.argument(0);
            this.output = buffers.output();
            byte[] line = new byte[shape.inputColumns() * shape.channels()];
            Arrays.fill(line, (byte) conv.inputZeroPoint());
            this.padding = shape.padded() ? tables.add("padding", DType.INT8, Bytes.wrap(line)) : input;
            this.table = tables.add("weight", DType.INT32, pack());
            this.scratch = buffers.scratch(DType.INT16, (long) shape.columns() * shape.columnBytes() / 2);
            this.outputRows = outputRows;
            this.limits = limits;
            this.isPaired = isPaired;
        }

        /** Weights and constants in the order in which the kernels load them. */
        private int[] pack() {
            List<Integer> words = new ArrayList<>();
            for (int o = 0; o < conv.channels(); o++) {
                for (int kx = 0; kx < shape.kernelW(); kx++) {
                    for (int word = 0; word < shape.weightsPerColumn(); word++) {
                        int tap = shape.firstTap(word);
                        words.add((scaled(o, tap, kx) & 0xFFFF) | (scaled(o, tap + 1, kx) << 16));
                    }
                }
                epilogue.rescale().put(o, words);
            }
            return words.stream().mapToInt(Integer::intValue).toArray();
        }

        private int scaled(int channel, int ky, int kx) {
            return ky < shape.kernelH() ? conv.tap(channel, ky, kx, 0) << epilogue.weightBits() : 0;
        }

        private Stmt body() {
            BlockBuilder body = new BlockBuilder();
            int perColumn = shape.columnBytes() / 2;
            fillPadding(body, 0, shape.padLeft() * perColumn);
            fillPadding(body, (shape.padLeft() + shape.inputColumns()) * perColumn, shape.columns() * perColumn);
            Expr begin = rows.firstLine(conv.output());
            Expr end = rows.endLine(conv.output());
            rows.eachLine(body, conv.output(), outputRows, (block, n, y) -> {
                if (outputRows == 1) {
                    row(block, n, y, 1, "");
                } else if (areAlwaysTogether(begin, end)) {
                    row(block, n, y, 2, "");
                } else {
                    block.ifThenElse(together(y, end), b -> row(b, n, y, 2, ""), b -> apart(b, n, y, end));
                }
            });
            return body.build();
        }

        private void fillPadding(BlockBuilder block, int begin, int end) {
            block.loop(
                    "i",
                    imm(begin),
                    imm(end),
                    (b, i) -> b.store(scratch, i, imm((long) conv.inputZeroPoint() << INPUT_SCALE_BITS)));
        }

        /** A remaining row, or two that are not adjacent in a ring. */
        private void apart(BlockBuilder block, Expr n, Expr y, Expr end) {
            row(block, n, y, 1, "");
            if (rows.outputRing() != 0) {
                block.ifThen(lt(add(y, 1), end), next -> row(next, n, add(y, 1), 1, "_next"));
            }
        }

        private boolean areAlwaysTogether(Expr begin, Expr end) {
            return rows.outputRing() == 0
                    && begin instanceof Expr.IntImm first
                    && end instanceof Expr.IntImm last
                    && (last.value() - first.value()) % 2 == 0;
        }

        /** Whether the next row is requested too, and is adjacent to this one. */
        private Expr together(Expr y, Expr end) {
            Expr isWanted = lt(add(y, 1), end);
            return rows.outputRing() == 0
                    ? isWanted
                    : Exprs.and(isWanted, lt(rows.outputLine(y), rows.outputLine(add(y, 1))));
        }

        /** One or two output rows. */
        private void row(BlockBuilder block, Expr n, Expr y, int count, String suffix) {
            DspDepthwiseKernel kernel = new DspDepthwiseKernel(shape, count, limits, isPaired, epilogue);
            Expr top = block.let(
                    "top" + suffix,
                    sub(mul(y, shape.strideH()), imm(conv.window().padTop())));
            List<Expr> scalars = new ArrayList<>();
            int distance = shape.kernelH() == 1 ? 1 : conv.window().dilationH();
            for (int i = 0; i < shape.inputRows(count); i++) {
                scalars.add(block.let("row" + i + suffix, inputRow(n, add(top, (long) i * distance))));
            }
            Expr line = add(mul(n, conv.output().dim(1)), rows.outputLine(y));
            Expr first = mul(line, (long) shape.width() * shape.outputs());
            int blocks = shape.channels() / shape.block();
            call(block, kernel, 0, first, scalars, blocks, suffix);
            if (shape.channels() % shape.block() != 0) {
                call(block, kernel, shape.channels() - BLOCK, first, scalars, 1, "_rest" + suffix);
            }
        }

        private void call(
                BlockBuilder block,
                DspDepthwiseKernel kernel,
                int channel,
                Expr first,
                List<Expr> offsets,
                int blocks,
                String suffix) {
            Buffer out = block.mutableView("out" + suffix, output, add(first, (long) channel * shape.multiplier()));
            Buffer in = channel == 0 ? input : block.view("in" + suffix, input, imm(channel));
            long words = table.elements() / shape.channels();
            Buffer weights = channel == 0 ? table : block.view("weight" + suffix, table, imm(channel * words));
            List<Expr> scalars = new ArrayList<>(offsets);
            scalars.add(imm(blocks));
            block.call(kernel.kernel(), List.of(in, padding, scratch, weights, out), scalars);
        }

        /** Offset of a row from the input; negative outside. */
        private Expr inputRow(Expr n, Expr row) {
            int height = conv.input().dim(1);
            long elements = (long) conv.input().dim(2) * shape.channels();
            Expr offset = mul(add(mul(n, height), rows.inputLine(0, row)), elements);
            if (!shape.padded()) {
                return offset;
            }
            Expr below = select(lt(row, imm(height)), offset, imm(-1));
            return select(lt(row, imm(0)), imm(-1), below);
        }
    }

    /**
     * The micro-kernel that computes one or two output rows of a depthwise convolution, in blocks of four channels.
     *
     * @param shape geometry
     * @param rows output rows, 1 or 2; two follow each other in memory
     * @param limits what may be unrolled
     * @param isPaired see {@link DspConvShape}; where the offset reaches
     * @param epilogue the rescaling of the sums, which are already scaled: inputs by 256, weights by the rest
     */
    public record DspDepthwiseKernel(
            DspDepthwiseShape shape,
            int rows,
            DspDepthwiseKernel.Limits limits,
            boolean isPaired,
            DspDepthwiseEpilogue epilogue) {
        /**
         * DspDepthwiseKernel.Limits of the straight code.
         *
         * @param outputs most outputs of a row, 1 to 8
         * @param columns most columns of the input that a round of a loop widens, 1 to 4
         * @param isLimited whether code must be short
         */
        public record Limits(int outputs, int columns, boolean isLimited) {
            /** Where code may have any size. */
            static final DspDepthwiseKernel.Limits NONE = new DspDepthwiseKernel.Limits(8, 4, false);

            private String suffix() {
                return !isLimited ? "" : "_by" + outputs + "_" + columns;
            }
        }

        /** Largest number of bytes of scratch under a window: the reach of LDRD. */
        static final int MOST_COLUMN_BYTES = 1020;

        /** Reach of LDR and STRB. */
        static final int LOAD_REACH = 4095;

        /** Equal only for kernels with the same text. */
        String name() {
            return "kiln_depthwise_" + shape.suffix() + "_rows" + rows + limits.suffix() + (isPaired ? "_paired" : "")
                    + epilogue.suffix();
        }

        Kernel kernel() {
            return Kernel.of(
                    name(),
                    List.of(
                            Kernel.Pointer.in(INT8),
                            Kernel.Pointer.in(INT8),
                            Kernel.Pointer.out(INT16),
                            Kernel.Pointer.in(INT32),
                            Kernel.Pointer.out(INT8)),
                    shape.inputRows(rows) + 1,
                    (out, html) -> Jtedsp_rowsGenerated.render(out, html, name(), this, shape, epilogue, parameters()));
        }

        private List<String> parameters() {
            List<String> parameters = new ArrayList<>(List.of(
                    "const int8_t* input",
                    "const int8_t* padding",
                    "int16_t* scratch",
                    "const int32_t* table",
                    "int8_t* out"));
            for (int i = 0; i < shape.inputRows(rows); i++) {
                parameters.add("int32_t row" + i);
            }
            parameters.add("int32_t blocks");
            return parameters;
        }

        /** Whether code must be short. */
        public boolean isShort() {
            return limits.isLimited;
        }

        /** Columns of the input that are widened by one round of a loop. */
        public int unrolledColumns() {
            return Math.min(limits.columns, 1 + LOAD_REACH / 2 / shape.channels());
        }

        /** Number of unrolled outputs of a row: all of a short row, otherwise a number that divides the row if there is one. */
        public int unroll() {
            int reach =
                    (MOST_COLUMN_BYTES - shape.spanW() * shape.columnBytes()) / (shape.strideW() * shape.columnBytes())
                            + 1;
            int rowBelow = rows == 2 ? shape.width() * shape.outputs() : 0;
            int most = Math.min(Math.min(limits.outputs, reach), (LOAD_REACH - rowBelow) / shape.outputs());
            if (shape.width() <= most) {
                return shape.width();
            }
            if (limits.isLimited) {
                // The outputs that are left over are code, too.
                int all = most;
                return IntStream.rangeClosed(1, most)
                        .filter(unroll -> unroll + shape.width() % unroll <= all)
                        .max()
                        .orElse(1);
            }
            for (int unroll = most; unroll > most / 2; unroll--) {
                if (shape.width() % unroll == 0) {
                    return unroll;
                }
            }
            return most;
        }
    }
}
