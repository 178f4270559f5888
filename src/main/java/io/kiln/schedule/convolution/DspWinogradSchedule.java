// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.div;
import static io.kiln.tir.Exprs.equal;
import static io.kiln.tir.Exprs.ge;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.lt;
import static io.kiln.tir.Exprs.min;
import static io.kiln.tir.Exprs.mod;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.or;
import static io.kiln.tir.Exprs.select;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Optimize;
import io.kiln.ir.op.Window;
import io.kiln.kernels.convolution.Jtedsp_winogradGenerated;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.PixelBlocks;
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
import java.util.stream.IntStream;

/** Convolutions of 3x3 on Cortex-M with the DSP extension. */
public record DspWinogradSchedule(String name) implements Schedule<DspRequantize> {
    private static final int BLOCK = Loops.BLOCK;
    private static final int PIXELS = Loops.PIXELS;
    private static final int UNROLL = DspWinogradKernel.MOST_UNROLLED;
    /** Limit because loops over channels are unrolled, with immediate offsets of factors. */
    private static final int MOST_CHANNELS = 32;
    /** Largest ratio of computed to needed work; above it the gain is lost. */
    private static final double MOST_EXCESS = 1.45;
    /** Factors are made of words of inputs. */
    private static final int LEAST_CHANNELS = 4;
    /** Larger layers use too much flash. */
    private static final int MOST_WEIGHT_BYTES = 24_576;

    @Override
    public Optional<DspRequantize> applies(Workload workload) {
        return workload.features().hasDsp() && workload.isPlainInt8() && suits(workload.conv())
                ? DspRequantize.ofScaled(workload.conv(), DspWinogradWeights.SCALE_BITS)
                : Optional.empty();
    }

    private static boolean suits(ConvComputation conv) {
        Window w = conv.window();
        boolean isPlain = w.kernelH() == 3
                && w.kernelW() == 3
                && w.strideH() == 1
                && w.strideW() == 1
                && w.dilationH() == 1
                && w.dilationW() == 1;
        int channels = conv.input().dim(3);
        return isPlain
                && conv.groups() == 1
                && !conv.depthwise()
                && w.padLeft() <= 1
                && w.padRight() <= 1
                && channels >= LEAST_CHANNELS
                && channels <= MOST_CHANNELS
                && conv.channels() >= BLOCK
                && conv.output().dim(2) >= PIXELS;
    }

    @Override
    public Space space(Workload workload, DspRequantize rescale) {
        Knob pixels = Knob.of("pixels", PIXELS);
        Knob block = Knob.of("channel_block", BLOCK);
        return workload.codeBytes().isPresent()
                ? Space.of(
                                name(),
                                pixels,
                                block,
                                DspTile.knob(Loops.mostInTile(workload)),
                                Knob.unusual(
                                        "unroll",
                                        IntStream.rangeClosed(1, UNROLL).toArray()),
                                Knob.flag(Space.SHORT, false, true),
                                Knob.flag(DspConvSchedule.PAIRED, false, true))
                        .where(each ->
                                each.isOn(Space.SHORT) == each.value("unroll").isPresent()
                                        && !(each.isOn(Space.SHORT) && each.isOn(DspConvSchedule.PAIRED)))
                : Space.of(name(), pixels, block, Knob.flag(DspConvSchedule.PAIRED, false, true));
    }

    @Override
    public LayerLoops lower(ConvTask task, DspRequantize rescale, Configuration configuration) {
        Loops.Form form = new Loops.Form(
                configuration.number("unroll", UNROLL),
                configuration.isOn(Space.SHORT),
                configuration.isOn(DspConvSchedule.PAIRED),
                configuration.number(Space.TILE, 1));
        return new Loops(task, rescale, form).loops();
    }

    /**
     * If only speed is optimized, for layers that are not too large. Where flash waits, only for tiles of pixels: they take weights as bytes, which
     * saves more flash and waits than transforming them costs.
     */
    public Optional<Choice<DspRequantize>> choose(Workload workload) {
        ConvComputation conv = workload.conv();
        int tile = Loops.mostInTile(workload);
        if (workload.optimize() != Optimize.SPEED
                || DspWinogradWeights.bytes(conv) > MOST_WEIGHT_BYTES
                || Loops.excess(conv) > MOST_EXCESS
                || (tile == 1 && DspTile.waits(workload))) {
            return Optional.empty();
        }
        Configuration start = Configuration.of(name()).with("pixels", PIXELS).with("channel_block", BLOCK);
        Configuration configuration = tile > 1 ? start.with(Space.TILE, tile) : start;
        String reason = "two pixels of 3x3 in 12 products in place of 18, exact in integers"
                + (tile > 1 ? "; weights as bytes, transformed for " + PIXELS * tile + " pixels at a time" : "");
        return applies(workload).map(rescale -> new Choice<>(this, rescale, configuration, reason));
    }

    /**
     * Convolution of 3x3 on Cortex-M with the DSP extension by Winograd's F(2, 3) along rows, exactly, in integers: two neighbouring
     * pixels take 4 products for each row of the window and input channel in place of 6.
     *
     * <pre>
     * of columns d0 d1 d2 d3 and weights g0 g1 g2, all times two:
     * m1 = (d1 + d2)(g0 + g1 + g2)   m2 = (d2 - d1)(g0 - g1 + g2)   m0 = (d0 - d2) 2 g0   m3 = (d1 - d3)(-2 g2)
     * y0 = m1 + m2 + m0              y1 = m1 - m2 + m3
     * scratch: factors of four pixels, or of a tile's, see {@link DspWinogradWeights.DspWinogradInput}
     * weights: see {@link DspWinogradWeights}; of tiles as bytes, and each block is transformed in scratch for all pixels of a tile
     * left over: the last four pixels of a row may overlap those before, as may the last four channels
     * </pre>
     *
     * <p>Source: A. Lavin and S. Gray, Fast Algorithms for Convolutional Neural Networks, 2015.
     */
    static final class Loops extends LayerCode {
        static final int BLOCK = 4;
        private static final int WINDOW = 3;
        /** Number of pixels computed together: two times two. */
        static final int PIXELS = 4;

        /** Most bytes of factors of a tile. */
        private static final int MOST_BYTES = 8 << 10;

        /** Most rows of a tile: further ones hardly save time. */
        private static final int MOST_ROWS = 4;

        /** Transforming weights for so many groups of four pixels takes a fifth of the time of their products, which is what fewer products save. */
        private static final int LEAST_FOURS = 4;

        private final Tile tile;
        private final DspWinogradWeights.DspWinogradInput factors;
        private final DspWinogradKernel kernel;
        private final Buffer fill;
        private final Buffer weights;
        private final Buffer scratch;
        /** Bytes of scratch of a transformed block, which is before the factors. */
        private final int factorsAt;

        /**
         * What of the code of a layer can be chosen.
         *
         * @param unroll largest number of unrolled steps
         * @param isShort whether code is {@linkplain io.kiln.schedule.space.Space#SHORT short}
         * @param isPaired see {@link DspConvShape}
         * @param tile times four pixels that a block of weights is read for: 1, or as many as there may be
         */
        record Form(int unroll, boolean isShort, boolean isPaired, int tile) {}

        /**
         * Pixels that a block of weights is transformed for.
         *
         * @param fours groups of four neighbouring pixels of a row
         * @param rows rows, whose windows overlap
         */
        private record Tile(int fours, int rows) {
            static final Tile NONE = new Tile(1, 1);

            /** The largest tile of a layer: of at least two rows if there are as many, none if the factors of one group take too much. */
            static Tile most(ConvComputation conv) {
                int line = new DspWinogradWeights.DspWinogradInput(conv.input().dim(3), true, false, 1).bytes();
                int fours = Math.min(conv.output().dim(2) / PIXELS, MOST_BYTES / ((WINDOW + 1) * line));
                if (fours == 0) {
                    return NONE;
                }
                int rows = Math.min(MOST_ROWS, MOST_BYTES / (fours * line) - WINDOW + 1);
                return new Tile(fours, Math.min(rows, conv.output().dim(1)));
            }

            int groups() {
                return fours * rows;
            }

            boolean isNone() {
                return groups() == 1;
            }

            /** Rows under its windows. */
            int lines() {
                return rows + WINDOW - 1;
            }
        }

        /** Packs weights and reserves scratch. */
        Loops(ConvTask task, DspRequantize rescale, Form form) {
            super(task);
            Tables tables = task.tables();
            OperatorBuffers buffers = task.buffers();
            int channels = conv.input().dim(3);
            this.tile = form.tile > 1 ? Tile.most(conv) : Tile.NONE;
            this.factors = new DspWinogradWeights.DspWinogradInput(channels, form.isShort, form.isPaired, tile.lines());
            this.kernel = new DspWinogradKernel(
                    DspWinogradWeights.DspWinogradInput.filled(channels),
                    conv.channels(),
                    DspEpilogue.of(rescale),
                    form.unroll,
                    form.isShort || !tile.isNone(),
                    form.isPaired,
                    tile.isNone() ? 0 : tile.lines());
            byte[] padding = new byte[PIXELS * channels];
            Arrays.fill(padding, (byte) conv.inputZeroPoint());
            this.fill = conv.window().isPadded() ? tables.add("padding", DType.INT8, Bytes.wrap(padding)) : input;
            this.weights = tables.add(
                    "weight",
                    DType.INT32,
                    tile.isNone()
                            ? DspWinogradWeights.pack(conv, rescale)
                            : DspWinogradWeights.packBytes(conv, rescale));
            this.factorsAt = tile.isNone() ? 0 : DspTile.aligned(kernel.blockBytes());
            this.scratch = buffers.scratch(DType.INT8, factorsAt + (long) tile.fours * factors.bytes());
        }

        /** The most fours of pixels of a tile; 1 if pixels or channels are left over, or if transformed weights are not worth their time. */
        static int mostInTile(Workload workload) {
            ConvComputation conv = workload.conv();
            int width = conv.output().dim(2);
            boolean isEven = width % PIXELS == 0 && conv.channels() % BLOCK == 0;
            boolean isWhole = workload.rows().areContiguous()
                    && workload.rows().parameters().isEmpty();
            int there = (isWhole ? conv.output().dim(1) : 1) * width / PIXELS;
            int groups = Tile.most(conv).groups();
            return isEven && Math.min(there, groups) >= LEAST_FOURS && DspTile.waits(workload) ? groups : 1;
        }

        LayerLoops loops() {
            return new LayerLoops(body(), executedMacs(conv), tile.rows).sharing((long) PIXELS * tile.groups());
        }

        /** Ratio of the computed pixels and input channels to the needed ones. */
        static double excess(ConvComputation conv) {
            int width = conv.output().dim(2);
            int channels = conv.input().dim(3);
            double pixels = (double) ((width + PIXELS - 1) / PIXELS * PIXELS) / width;
            return pixels * DspWinogradWeights.DspWinogradInput.filled(channels) / channels;
        }

        /** Number of products that the kernels execute. */
        private static long executedMacs(ConvComputation conv) {
            long fours = (conv.output().dim(2) + PIXELS - 1L) / PIXELS;
            long rows = (long) conv.output().dim(0) * conv.output().dim(1);
            return rows
                    * fours
                    * PIXELS
                    / 2
                    * 12
                    * DspWinogradWeights.DspWinogradInput.filled(conv.input().dim(3))
                    * DspWinogradWeights.channels(conv);
        }

        private Stmt body() {
            BlockBuilder body = new BlockBuilder();
            Expr begin = rows.firstLine(conv.output());
            Expr end = rows.endLine(conv.output());
            rows.eachLine(body, conv.output(), tile.rows, (row, n, y) -> {
                if (tile.isNone()) {
                    fours(row, n, y);
                    return;
                }
                Expr count = least(row, "rows", tile.rows, sub(end, y), sub(end, begin));
                Expr perRow = imm(conv.output().dim(2) / PIXELS);
                row.loop("four", imm(0), perRow, tile.fours, (block, four) -> {
                    Expr fours = least(block, "fours", tile.fours, sub(perRow, four), perRow);
                    tile(block, new Part(n, y, count, four, fours));
                });
            });
            return body.build();
        }

        /** A number, or what is left of a range if that is less. */
        private static Expr least(BlockBuilder block, String name, int most, Expr left, Expr range) {
            boolean divides = range instanceof Expr.IntImm length && length.value() % most == 0;
            return divides || most == 1 ? imm(most) : block.let(name, min(imm(most), left));
        }

        /** The first pixel of a row of the output. */
        private Expr line(Expr n, Expr y) {
            return mul(
                    add(mul(n, conv.output().dim(1)), rows.outputLine(y)),
                    conv.output().dim(2));
        }

        /** A row of pixels, four by four. */
        private void fours(BlockBuilder row, Expr n, Expr y) {
            Expr out = row.let("line", line(n, y));
            PixelBlocks.loop(row, conv.output().dim(2), PIXELS, (block, x) -> {
                block.loop("ky", WINDOW, (b, ky) -> factors(b, scratch, n, new Pixel(y, x), ky));
                multiply(block, mul(add(out, x), conv.channels()));
            });
        }

        /** The first of four pixels. */
        private record Pixel(Expr y, Expr x) {}

        /**
         * The part of the output that a tile covers.
         *
         * @param n image
         * @param y first row
         * @param count rows
         * @param four first group of four pixels of a row
         * @param fours groups
         */
        private record Part(Expr n, Expr y, Expr count, Expr four, Expr fours) {}

        /** Makes the factors of all rows under the windows, then multiplies them with one block of weights after another. */
        private void tile(BlockBuilder outer, Part part) {
            outer.loop("i", imm(0), mul(part.fours, add(part.count, WINDOW - 1L)), (row, i) -> {
                Expr four = row.let("at", mod(i, part.fours));
                Expr line = row.let("line", div(i, part.fours));
                Buffer window = row.mutableView("window", scratch, add(mul(four, factors.bytes()), factorsAt));
                factors(row, window, part.n, new Pixel(part.y, mul(add(part.four, four), PIXELS)), line);
            });
            int blocks = conv.channels() / BLOCK;
            int words = (int) weights.elements() / blocks;
            int constants = BLOCK * kernel.epilogue().constants();
            outer.loop("block", blocks, (block, c) -> {
                Buffer bytes = block.view("weights", weights, mul(c, words));
                Expr pairs = imm((words - constants) / WINDOW);
                block.call(DspWinogradWeights.transform(), List.of(scratch, bytes), List.of(pairs, imm(constants)));
                block.loop("row", imm(0), part.count, (row, r) -> {
                    Expr pixel = add(line(part.n, add(part.y, r)), mul(part.four, PIXELS));
                    Buffer out = row.mutableView("out", output, add(mul(pixel, conv.channels()), mul(c, BLOCK)));
                    Buffer windows = row.view("windows", scratch, add(mul(r, factors.rowBytes()), factorsAt));
                    call(row, List.of(windows, scratch, out), part.fours);
                });
            });
        }

        /** Factors of four pixels of a row of the window; one that lies outside the input is padding. */
        private void factors(BlockBuilder row, Buffer window, Expr n, Pixel pixel, Expr ky) {
            int channels = conv.input().dim(3);
            Window w = conv.window();
            boolean isInside = w.padTop() + w.padBottom() == 0;
            Expr y = row.let("input_y", add(sub(pixel.y, imm(w.padTop())), ky));
            Expr line = add(mul(n, conv.input().dim(1)), rows.inputLine(0, y));
            Expr column = add(mul(line, conv.input().dim(2)), add(pixel.x, 1L - w.padLeft()));
            Expr offset = mul(column, channels);
            Expr outside = or(lt(y, imm(0)), ge(y, imm(conv.input().dim(1))));
            Expr from = row.let("from", isInside ? offset : select(outside, imm(-1), offset));
            Expr first = sub(from, imm(channels));
            Expr last = add(from, 4L * channels);
            Expr end = equal(pixel.x, imm(conv.output().dim(2) - PIXELS));
            Expr before = w.padLeft() == 0 ? first : select(equal(pixel.x, imm(0)), imm(-1), first);
            Expr above = isInside ? last : select(lt(from, imm(0)), imm(-1), last);
            Expr behind = w.padRight() == 0 ? above : select(end, imm(-1), above);
            Buffer place = row.mutableView("to", window, mul(ky, factors.rowBytes()));
            row.call(factors.kernel(), List.of(place, input, fill), List.of(from, before, behind));
        }

        /** All channels of four pixels. */
        private void multiply(BlockBuilder block, Expr pixel) {
            int whole = conv.channels() / BLOCK;
            call(block, List.of(scratch, weights, block.mutableView("out", output, pixel)), imm(whole));
            if (conv.channels() % BLOCK != 0) {
                Buffer rest = block.view("rest", weights, imm(weights.elements() / (whole + 1) * whole));
                Buffer out = block.mutableView("out_rest", output, add(pixel, conv.channels() - (long) BLOCK));
                call(block, List.of(scratch, rest, out), imm(1));
            }
        }

        private void call(BlockBuilder block, List<Buffer> buffers, Expr count) {
            List<Expr> scalars = new ArrayList<>(List.of(count));
            scalars.addAll(kernel.epilogue().arguments());
            block.call(kernel.kernel(), buffers, scalars);
        }
    }

    /**
     * The kernel that multiplies the factors of {@link DspWinogradSchedule} with blocks of four output channels, for two times two pixels.
     *
     * @param channels input channels
     * @param pitch bytes from a pixel of the output to the next
     * @param epilogue the rescaling of the sums
     * @param most largest number of unrolled steps
     * @param isRolled whether one loop computes all kinds of products
     * @param isPaired see {@link DspConvShape}
     * @param lines rows of factors of several such pixels that a block, which was transformed at run time, is multiplied with, at least three; rolled. 0 for the
     *     factors of one window
     */
    public record DspWinogradKernel(
            int channels, int pitch, DspEpilogue epilogue, int most, boolean isRolled, boolean isPaired, int lines) {
        /** Largest number of unrolled steps where code may have any size. */
        static final int MOST_UNROLLED = 24;

        /** Bytes of the inputs of a step; of weights twice as many. */
        public static final int STEP_BYTES = 8;

        private String name() {
            return "kiln_winograd_" + channels + "_out" + pitch + (isRolled ? "_by" + unroll() : "")
                    + (isTiled() ? "_tile" + lines : "") + (isPaired ? "_paired" : "") + epilogue.suffix();
        }

        /** Whether one block of weights is multiplied with several times two times two pixels. */
        public boolean isTiled() {
            return lines > 0;
        }

        /** Bytes from the factors of a kind to the next. */
        public int kindBytes() {
            return isTiled() ? 4 * channels * lines : STEP_BYTES * steps();
        }

        /** Steps of two inputs, for each kind of product. */
        public int steps() {
            return 3 * channels / 2;
        }

        /** Steps in a loop, or all of them if they are few. */
        public int unroll() {
            return IntStream.rangeClosed(1, most)
                    .filter(count -> steps() % count == 0)
                    .max()
                    .orElseThrow();
        }

        /** Powers of two by which weights are scaled. */
        public int scaleBits() {
            return DspWinogradWeights.SCALE_BITS;
        }

        /** Bytes of a transformed block of four channels: weights, and constants twice. */
        public int blockBytes() {
            return 4 * 2 * STEP_BYTES * steps()
                    + 2 * DspWinogradSchedule.Loops.BLOCK * epilogue.constants() * Integer.BYTES;
        }

        /** {@code (x, w, out, blocks[, late])}; of a tile count in place of blocks, which is how many times two times two pixels there are. */
        Kernel kernel() {
            List<String> parameters = new ArrayList<>(List.of(
                    "const int8_t* x",
                    isTiled() ? "const int8_t* weights" : "const int32_t* w",
                    "int8_t* out",
                    isTiled() ? "int32_t count" : "int32_t blocks"));
            epilogue.parameters().forEach(p -> parameters.add("int32_t " + p));
            return Kernel.of(
                    name(),
                    List.of(
                            Kernel.Pointer.in(INT8),
                            Kernel.Pointer.in(isTiled() ? INT8 : INT32),
                            Kernel.Pointer.out(INT8)),
                    parameters.size() - 3,
                    (out, html) -> Jtedsp_winogradGenerated.render(out, html, name(), this, epilogue, parameters));
        }
    }
}
