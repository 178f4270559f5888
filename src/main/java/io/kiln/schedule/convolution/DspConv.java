// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.div;
import static io.kiln.tir.Exprs.equal;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.lt;
import static io.kiln.tir.Exprs.mod;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.kernels.convolution.Jtedsp_pairsGenerated;
import io.kiln.kernels.convolution.Jtedsp_rowsGenerated;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerCode;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Workload;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelSheet;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Convolution on Cortex-M with the DSP extension: the windows of two neighbouring pixels are widened into scratch, then a
 * kernel multiplies them with blocks of four output channels.
 *
 * <pre>
 * scratch: both windows, interleaved, 16 bits a value; for first layers the rows under a line of windows too ({@link DspPaddedRows})
 * weights: per block of four channels [input pair][channel pair], then the constants of the channels; two weights a halfword
 * left over: an odd pixel has a kernel of its own, channels left over by fours a smaller last block
 * </pre>
 */
final class DspConv extends LayerCode {
    static final int BLOCK = 4;

    /** Rows of so many pixels are fast enough one by one, */
    private static final int SHORT_ROW = 5;

    /** and those of so many where weights are worth reading less often. */
    private static final int SHORT_ROW_OF_WAITING = 8;

    /** Boards have RAM to spare for the weights of smaller layers of 1x1, which is faster than tiles. */
    private static final int MOST_IN_SPARE_RAM = 32 << 10;

    /** Fewest pairs of a tile of 1x1: a copy of weights takes as long as three or four reads of them that wait. */
    private static final int LEAST_FLAT_TILE = 4;

    /** Most pairs: a copy of weights takes a twentieth of the time of these, */
    private static final int MOST_FLAT_TILE = 10;

    /** whose windows have at most so many bytes. */
    private static final int MOST_FLAT_BYTES = 12 << 10;

    /**
     * What of the code of a layer can be chosen.
     *
     * @param unroll number of unrolled steps of two inputs in the innermost loop, or of all steps in short code
     * @param isShort whether code is {@linkplain io.kiln.schedule.space.Space#SHORT short}
     * @param isPaired see {@link DspConvShape}
     * @param tile pairs of pixels of which the windows are gathered before the kernel reads weights
     * @param isPacked see {@link DspConvShape}; only without tiles
     */
    record Form(int unroll, boolean isShort, boolean isPaired, int tile, boolean isPacked) {}

    private final boolean waits;
    private final DspConvShape shape;
    private final DspEpilogue epilogue;
    private final Optional<DspWidening> widening;
    private final Optional<DspTiles> tiles;
    private final boolean isTiled;
    private final DspWindow window;
    private final DspPaddedRows padded;
    private final int[] order;
    private final Buffer weights;
    private final Buffer scratch;

    /** Multiply-accumulates that the kernel executes. */
    private long executedMacs() {
        long pixels = conv.output().elements() / conv.channels();
        return pixels * (conv.channels() + (long) conv.groups() * shape.overlap()) * order.length;
    }

    LayerLoops loops() {
        int block = tiles.map(DspTiles::rows).orElseGet(() -> rowBlock(conv, waits));
        return new LayerLoops(body(), executedMacs(), block)
                .sharing(isTiled ? 2L * tiles.orElseThrow().pairs() : 2);
    }

    /** The most pairs of a tile: 1 unless windows are gathered before a kernel multiplies them, or reading a layer's weights takes long. */
    static int mostInTile(Workload workload) {
        ConvComputation conv = workload.conv();
        int bytes = 4 * DspWindow.order(conv).length;
        if (!conv.isFlat()) {
            return DspWidening.of(conv, false).isEmpty() ? DspTile.most(workload, bytes, 2) : 1;
        }
        boolean isLarge = conv.weight().data().size() > MOST_IN_SPARE_RAM;
        int pairs = isLarge && DspTile.waits(workload)
                ? DspTiles.ofRows(conv, Math.max(1, Math.min(MOST_FLAT_TILE, MOST_FLAT_BYTES / bytes)))
                : 1;
        return pairs < LEAST_FLAT_TILE ? 1 : pairs;
    }

    /**
     * Packs weights and reserves scratch.
     *
     * @param form what of its code can be chosen
     */
    DspConv(ConvTask task, DspRequantize rescale, Form form) {
        super(task);
        Tables tables = task.tables();
        OperatorBuffers buffers = task.buffers();
        this.waits = task.workload().codeBytes().isPresent();
        this.order = order(conv, form.isShort);
        int perGroup = conv.channels() / conv.groups();
        int channels = Math.min(BLOCK, perGroup);
        int rest = perGroup % channels;
        boolean canOverlap = form.isShort && (!rescale.isSummed() || DspWeights.fit(conv, true));
        boolean overlaps = rest > 0 && (form.isPacked || canOverlap);
        this.shape = new DspConvShape(
                2,
                channels,
                new DspConvShape.Loop(order.length / 2, form.unroll, form.isShort),
                conv.channels(),
                overlaps ? new DspConvShape.Last(0, channels - rest) : new DspConvShape.Last(rest, 0),
                form.isPaired,
                form.isPacked);
        this.epilogue = DspEpilogue.of(rescale);
        this.widening = DspWidening.of(conv, form.isShort).map(w -> form.isShort ? w.inShort() : w);
        this.weights = tables.add("weight", DType.INT32, DspWeights.pack(conv, order, rescale, shape));
        DspTile tile = new DspTile(shape, epilogue, DspTile.isCopied(task.workload()));
        this.tiles = form.tile > 1 ? Optional.of(new DspTiles(conv, tile, form.tile)) : Optional.empty();
        this.isTiled = form.tile > 1 && (!conv.isFlat() || pairsOfCall() >= LEAST_FLAT_TILE);
        this.scratch = buffers.scratch(
                DType.INT8, tiles.map(DspTiles::scratchBytes).orElseGet(() -> scratchBytes(conv, form.isShort)));
        this.window = new DspWindow(conv, input, scratch);
        this.padded = new DspPaddedRows(conv, input, scratch, form.isShort);
    }

    /** The tap of each input of the widened window; -1 where there is none. */
    private static int[] order(ConvComputation conv, boolean isShort) {
        return DspPaddedRows.areFor(conv) ? DspPaddedRows.order(conv, isShort) : DspWindow.order(conv);
    }

    private static long scratchBytes(ConvComputation conv, boolean isShort) {
        return DspPaddedRows.areFor(conv)
                ? DspPaddedRows.scratchBytes(conv, isShort)
                : 4L * order(conv, isShort).length;
    }

    /** Pixels are processed in pairs, across the ends of rows if possible; in short odd rows the remaining pixel counts. */
    private static int rowBlock(ConvComputation conv, boolean waits) {
        int width = conv.output().dim(2);
        return conv.isFlat() && width % 2 != 0 && width < (waits ? SHORT_ROW_OF_WAITING : SHORT_ROW) ? 2 : 1;
    }

    private Stmt body() {
        BlockBuilder body = new BlockBuilder();
        boolean isFlat = conv.isFlat() && rows.areContiguousInRange();
        boolean isPadded = DspPaddedRows.areFor(conv);
        if (isPadded) {
            padded.begin(body);
        }
        body.loop("n", conv.output().dim(0), (batch, n) -> {
            if (isFlat) {
                flat(batch, n);
            } else if (isPadded) {
                paddedLines(batch, n);
            } else if (isTiled && conv.isFlat()) {
                flatLines(batch, n);
            } else if (isTiled) {
                tiledLines(batch, n);
            } else {
                lines(batch, n);
            }
        });
        return body.build();
    }

    /** Pixel by pixel, across the ends of rows. */
    private void flat(BlockBuilder batch, Expr n) {
        int width = conv.output().dim(2);
        Expr plane = mul(n, (long) conv.output().dim(1) * width);
        Expr from = batch.let("from", add(plane, mul(rows.inputShift(0), width)));
        Expr to = batch.let("to", add(plane, mul(rows.outputShift(), width)));
        Expr begin = mul(rows.firstLine(conv.output()), width);
        Expr end = mul(rows.endLine(conv.output()), width);
        if (isTiled) {
            flatTiles(batch, sub(end, begin), add(from, begin), add(to, begin));
            return;
        }
        if (widening.isPresent()) {
            line(batch, new Line(begin, end, input, mul(from, conv.input().dim(3)), to));
            return;
        }
        pairs(batch, begin, end, (pair, first, second, count) -> {
            groups(pair, (group, g) -> {
                window.gatherFlat(group, add(from, first), add(from, second), inputChannel(g));
                multiply(group, new Pixels(add(to, first), count), g);
            });
        });
    }

    /** The same, row by row. */
    private void flatLines(BlockBuilder batch, Expr n) {
        int width = conv.output().dim(2);
        batch.loop("y", rows.firstLine(conv.output()), rows.endLine(conv.output()), (row, y) -> {
            Expr inputLine = add(mul(n, conv.input().dim(1)), rows.inputLine(0, y));
            Expr from = row.let("from", mul(inputLine, width));
            flatTiles(row, imm(width), from, row.let("line", outputLine(n, y)));
        });
    }

    /** Tiles of pairs of pixels that follow each other, and a remaining pixel. */
    private void flatTiles(BlockBuilder block, Expr count, Expr from, Expr to) {
        DspTiles.Places places = new DspTiles.Places(input, weights, output, scratch);
        tiles.orElseThrow().flat(block, places, count, from, to);
        when(block, isOdd(), isOdd(count), rest -> {
            Expr last = sub(count, imm(1));
            window.gatherFlat(rest, add(from, last), add(from, last), imm(0));
            multiply(rest, new Pixels(add(to, last), 1), imm(0));
        });
    }

    /** Pairs of pixels that a call computes one after another, if it has as many rows as it may. */
    private long pairsOfCall() {
        int width = conv.output().dim(2);
        if (!rows.areContiguousInRange()) {
            return width / 2;
        }
        Expr lines = sub(rows.endLine(conv.output()), rows.firstLine(conv.output()));
        return (lines instanceof Expr.IntImm all ? all.value() : rows.block()) * width / 2;
    }

    private void lines(BlockBuilder batch, Expr n) {
        int width = conv.output().dim(2);
        batch.loop("y", rows.firstLine(conv.output()), rows.endLine(conv.output()), (row, y) -> {
            DspWindow.Lines lines = window.lines(row, rows, n, y);
            Expr line = row.let("line", outputLine(n, y));
            if (widening.isPresent()) {
                line(row, new Line(imm(0), imm(width), input, window.firstInput(lines), line));
                return;
            }
            pairs(row, imm(0), imm(width), (pair, first, second, count) -> {
                groups(pair, (group, g) -> {
                    window.gather(group, lines, first, second, inputChannel(g));
                    multiply(group, new Pixels(add(line, first), count), g);
                });
            });
        });
    }

    /** Tiles of pairs, across the ends of rows if possible, and a remaining pixel of each row. */
    private void tiledLines(BlockBuilder batch, Expr n) {
        DspTiles each = tiles.orElseThrow();
        int width = conv.output().dim(2);
        DspTiles.Places places = new DspTiles.Places(input, weights, output, scratch);
        if (!isOdd() && rows.areContiguousInRange()) {
            Expr plane = mul(n, (long) conv.output().dim(1) * width);
            Expr to = batch.let("to", add(plane, mul(rows.outputShift(), width)));
            each.rows(batch, places, rows, n, to);
            return;
        }
        batch.loop("y", rows.firstLine(conv.output()), rows.endLine(conv.output()), (row, y) -> {
            Expr line = row.let("line", outputLine(n, y));
            each.row(row, places, rows, n, y, line);
            if (isOdd()) {
                Expr last = imm(width - 1L);
                DspWindow.Lines lines = window.lines(row, rows, n, y);
                window.gather(row, lines, last, last, imm(0));
                multiply(row, new Pixels(add(line, last), 1), imm(0));
            }
        });
    }

    private void paddedLines(BlockBuilder batch, Expr n) {
        batch.loop("y", rows.firstLine(conv.output()), rows.endLine(conv.output()), (row, y) -> {
            padded.line(row, rows, n, y);
            Expr line = row.let("line", outputLine(n, y));
            line(row, new Line(imm(0), imm(conv.output().dim(2)), scratch, padded.firstInput(), line));
        });
    }

    /** Index of the first pixel of a line of the output. */
    private Expr outputLine(Expr n, Expr y) {
        return mul(
                add(mul(n, conv.output().dim(1)), rows.outputLine(y)),
                conv.output().dim(2));
    }

    /**
     * Pixels that follow each other.
     *
     * @param begin the first one
     * @param end behind the last one
     * @param source where their windows are
     * @param input element of the source at which the window of pixel 0 begins
     * @param output pixel of the output for pixel 0
     */
    private record Line(Expr begin, Expr end, Buffer source, Expr input, Expr output) {}

    /** Pixels by kernels that widen their windows: pairs, and a remaining one. */
    private void line(BlockBuilder block, Line line) {
        Expr length = sub(line.end, line.begin);
        Expr hasPairs = length instanceof Expr.IntImm pixels
                ? imm(pixels.value() / 2)
                : conv.output().dim(2) > 1 ? imm(1) : lt(imm(1), length);
        when(block, true, hasPairs, b -> row(b, line, line.begin, div(length, imm(2)), shape));
        when(block, isOdd(), isOdd(length), b -> row(b, line, sub(line.end, imm(1)), imm(1), shape.ofOne()));
    }

    /** A loop over pairs of pixels, then the same body for a remaining pixel, as if it were two. */
    private void pairs(BlockBuilder block, Expr begin, Expr end, PairBody body) {
        Expr last = sub(end, imm(1));
        block.loop("x", begin, isOdd() ? last : end, 2, (pair, x) -> body.emit(pair, x, add(x, 1), 2));
        when(block, isOdd(), isOdd(sub(end, begin)), b -> body.emit(b, last, last, 1));
    }

    /** Whether a pixel of a row, or of a range of rows, may remain. */
    private boolean isOdd() {
        return conv.output().dim(2) % 2 != 0;
    }

    private static Expr isOdd(Expr length) {
        return equal(mod(length, imm(2)), imm(1));
    }

    /** Emits a body if it may be needed, under a condition unless that is constant. */
    private static void when(BlockBuilder block, boolean isPossible, Expr condition, Consumer<BlockBuilder> body) {
        if (condition instanceof Expr.IntImm constant) {
            if (isPossible && constant.value() != 0) {
                body.accept(block);
            }
        } else if (isPossible) {
            block.ifThen(condition, body);
        }
    }

    /** A number of times the pixels of a shape. */
    private void row(BlockBuilder block, Line line, Expr first, Expr count, DspConvShape pixels) {
        DspRowKernel kernel = new DspRowKernel(widening.orElseThrow(), pixels, epilogue);
        String suffix = "" + pixels.pixels();
        Buffer in = block.view("in" + suffix, line.source, add(line.input, mul(first, DspWidening.pitch(conv))));
        Buffer out = block.mutableView("out" + suffix, output, mul(add(line.output, first), conv.channels()));
        List<Expr> scalars = new ArrayList<>(List.of(count, imm(wholeBlocks())));
        scalars.addAll(epilogue.arguments());
        block.call(kernel.kernel(), List.of(scratch, in, weights, out), scalars);
    }

    /** Blocks of a group, without a smaller last one. */
    private long wholeBlocks() {
        return conv.channels() / conv.groups() / shape.channels();
    }

    /** Emits the computation of one or two pixels, given their indices; where there is one, the second index is the same. */
    @FunctionalInterface
    private interface PairBody {
        void emit(BlockBuilder block, Expr first, Expr second, int count);
    }

    private void groups(BlockBuilder block, BiConsumer<BlockBuilder, Expr> body) {
        if (conv.groups() == 1) {
            body.accept(block, imm(0));
        } else {
            block.loop("g", conv.groups(), body::accept);
        }
    }

    private Expr inputChannel(Expr group) {
        return mul(group, conv.channelsPerGroup());
    }

    /**
     * One or two pixels of the output.
     *
     * @param first index of the first one
     */
    private record Pixels(Expr first, int count) {}

    /** All channels of a group of one or two pixels. */
    private void multiply(BlockBuilder block, Pixels pixels, Expr group) {
        int channels = conv.channels() / conv.groups();
        Expr first = add(mul(pixels.first, conv.channels()), mul(group, channels));
        Expr from = mul(group, weights.elements() / conv.groups());
        Buffer w = conv.groups() == 1 ? weights : block.view("weights", weights, from);
        DspConvShape together = pixels.count == 1 ? shape.ofOne() : shape;
        Buffer out = block.mutableView("out" + pixels.count, output, first);
        List<Expr> scalars = new ArrayList<>(List.of(imm(wholeBlocks())));
        scalars.addAll(epilogue.arguments());
        block.call(kernel(together), List.of(scratch, w, out), scalars);
    }

    /** {@code (x, w, out, blocks[, late])}: one or two neighbouring pixels, whose windows are already widened. */
    private Kernel kernel(DspConvShape pixels) {
        String name = "kiln_conv_" + pixels.suffix() + epilogue.suffix();
        return epilogue.kernel(
                name,
                0,
                KernelSheet.text((out, html) -> Jtedsp_pairsGenerated.render(out, html, name, pixels, epilogue)));
    }

    /**
     * Neighbouring pixels, two by two or one by one, whose windows the kernel widens before it multiplies them with all channels. Where there are
     * only a few channels, it does both at once.
     *
     * @param widening where the inputs of a pixel are
     * @param shape sizes
     * @param epilogue the rescaling of the sums
     */
    private record DspRowKernel(DspWidening widening, DspConvShape shape, DspEpilogue epilogue) {
        String name() {
            return "kiln_conv_" + widening.suffix() + "_" + shape.suffix() + epilogue.suffix();
        }

        /** {@code (x, in, weights, out, count, blocks[, late])}, of which x is scratch; count is how often the shape's pixels are computed, at least once. */
        Kernel kernel() {
            List<String> parameters = new ArrayList<>(List.of(
                    "int8_t* x",
                    "const int8_t* in",
                    "const int32_t* weights",
                    "int8_t* out",
                    "int32_t count",
                    "int32_t blocks"));
            epilogue.parameters().forEach(p -> parameters.add("int32_t " + p));
            return Kernel.of(
                    name(),
                    List.of(
                            Kernel.Pointer.out(INT8),
                            Kernel.Pointer.in(INT8),
                            Kernel.Pointer.in(INT32),
                            Kernel.Pointer.out(INT8)),
                    2 + epilogue.parameters().size(),
                    (out, html) ->
                            Jtedsp_rowsGenerated.render(out, html, name(), widening, shape, epilogue, parameters));
        }
    }
}
