// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.kernels.convolution.Jtemve_gemmGenerated;
import io.kiln.kernels.convolution.Jtemve_gemm_keptGenerated;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.FourBitWeights;
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
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import io.kiln.tir.Stmt;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Convolutions and dense layers on MVE. */
public record MveGemmSchedule(String name) implements Schedule<MveRequantize> {
    /** Whether the loads of a step are between the multiplications of the one before. */
    private static final String PIPELINED = "pipelined";

    /** More unrolled steps than there are would be the same loop. */
    private static final int[] MANY = {1, 4, 9, 20, 40};

    @Override
    public Optional<MveRequantize> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        boolean dense = conv.groups() == 1 || conv.input().dim(3) == 1;
        return workload.features().hasMve() && workload.isPlainInt8() && dense
                ? MveRequantize.of(conv)
                : Optional.empty();
    }

    @Override
    public Space space(Workload workload, MveRequantize rescale) {
        ConvComputation conv = workload.conv();
        Knob pixels = Knob.of("pixels", 1, 2);
        Knob block = Knob.of("block", 4, 8);
        int steps = (conv.taps() + MveGemmKernel.VECTOR - 1) / MveGemmKernel.VECTOR;
        Knob unroll = Knob.of("unroll", steps > 20 ? MANY : steps > 9 ? new int[] {1, 4, 9, 20} : new int[] {1, 4, 9});
        Knob kept = canKeep(conv, rescale) ? Knob.flag("kept_weights", false, true) : Knob.flag("kept_weights", false);
        Space space = isInPlace(conv)
                ? Space.of(name(), pixels, block, unroll, kept, pipelined(conv), FourBitWeights.knob(conv))
                : Space.of(
                        name(),
                        pixels,
                        block,
                        unroll,
                        kept,
                        gathered(conv),
                        pipelined(conv),
                        FourBitWeights.knob(conv));
        return space.where(c -> !c.isOn(PIPELINED) || c.number("pixels") == 2)
                .where(c -> c.number("block") == 4 || c.number("pixels") == 1)
                .where(c -> !FourBitWeights.arePacked(c) || !c.isOn("kept_weights"))
                .where(c -> !c.isOn("kept_weights") || c.number("pixels") * c.number("block") == 4);
    }

    private static boolean canPipeline(ConvComputation conv) {
        return conv.channels() >= 4;
    }

    private static Knob pipelined(ConvComputation conv) {
        return canPipeline(conv) ? Knob.flag(PIPELINED, false, true) : Knob.flag(PIPELINED, false);
    }

    /** How windows become runs of bytes, and how many at a time. */
    private static Knob gathered(ConvComputation conv) {
        MveGather gather = MveGather.of(conv);
        return Knob.of(gather.title(), gather.chunk());
    }

    /** Whether windows are single pixels inside the input, so that nothing is copied. */
    static boolean isInPlace(ConvComputation conv) {
        Window w = conv.window();
        return w.kernelH() == 1 && w.kernelW() == 1 && !w.isPadded();
    }

    /** Whether the weights of a block of four channels fit into registers while a row of pixels passes. */
    private static boolean canKeep(ConvComputation conv, MveRequantize rescale) {
        int zero = rescale.requantization().outputZeroPoint();
        boolean hasRegisters =
                rescale.proven().map(MveFloor::of).filter(MveFloor::isOdd).isEmpty();
        return hasRegisters
                && !rescale.isAny()
                && conv.taps() <= MveGemmKernel.VECTOR
                && conv.channels() % 4 == 0
                && conv.output().dim(2) >= 4
                && rescale.low() <= zero
                && rescale.high() >= zero;
    }

    @Override
    public LayerLoops lower(ConvTask task, MveRequantize rescale, Configuration configuration) {
        Loops.Knobs knobs = new Loops.Knobs(
                configuration.number("pixels"),
                configuration.number("block"),
                configuration.number("unroll"),
                configuration.isOn("kept_weights"),
                configuration.isOn(PIPELINED),
                FourBitWeights.arePacked(configuration));
        return new Loops(task, rescale, knobs).loops();
    }

    /** Wherever it applies. */
    public Optional<Choice<MveRequantize>> choose(Workload workload) {
        String reason = "16 products to an instruction (MVE), exact in 32 bits";
        return applies(workload).map(rescale -> new Choice<>(this, rescale, configuration(workload, rescale), reason));
    }

    private Configuration configuration(Workload workload, MveRequantize rescale) {
        ConvComputation conv = workload.conv();
        boolean inPlace = isInPlace(conv);
        boolean single = conv.output().dim(1) == 1 && conv.output().dim(2) == 1;
        int block = single && conv.channels() > 4 ? 8 : 4;
        boolean isKept = block == 4 && canKeep(conv, rescale);
        boolean isPacked = !isKept && FourBitWeights.fit(conv);
        Configuration configuration = Configuration.of(name())
                .with("pixels", single || isKept ? 1 : 2)
                .with("block", block)
                .with("unroll", workload.isForSize() ? 1 : single || isPacked ? 4 : 9)
                .withFlag("kept_weights", isKept);
        MveGather gather = MveGather.of(conv);
        Configuration all = inPlace ? configuration : configuration.with(gather.title(), gather.chunk());
        return FourBitWeights.packed(all.withFlag(PIPELINED, isPacked && !single && canPipeline(conv)), isPacked);
    }

    /**
     * Convolution and fully connected layer as a matrix product on MVE; see {@link MveGemmKernel}.
     *
     * <pre>
     * 1x1         inputs are read where they lie: a pixel is a row of the matrix
     * windows     are copied to scratch, so that each is one run of bytes; see {@link MveGather}
     * weights     of each block of channels [16 products][channel][16], then its constants; of four bits two channels share 16 bytes
     * </pre>
     *
     * <p>Padding has the value of the zero point, which is folded into the bias.
     */
    static final class Loops extends LayerCode {
        private final Knobs knobs;
        private final MveRequantize rescale;
        private final Buffer packed;
        private final MveGemmKernel gemm;
        private final OperatorBuffers buffers;
        private final Optional<MveGather> gather;

        /**
         * The schedule's explicit values.
         *
         * @param pixels number of pixels computed together: 1 or 2
         * @param block number of channels computed together: 4 or 8
         * @param unroll number of unrolled steps of 16 products
         * @param isKept whether a block's weights stay in registers for a row of pixels
         * @param isPipelined see {@link MveSteps}
         * @param isPacked see {@link MveSteps}
         */
        record Knobs(int pixels, int block, int unroll, boolean isKept, boolean isPipelined, boolean isPacked) {}

        /** Packs weights. */
        Loops(ConvTask task, MveRequantize rescale, Knobs knobs) {
            super(task);
            Tables tables = task.tables();
            OperatorBuffers buffers = task.buffers();
            this.knobs = knobs;
            this.rescale = rescale;
            this.buffers = buffers;
            this.gather = MveGemmSchedule.isInPlace(conv) ? Optional.empty() : Optional.of(MveGather.of(conv));
            int depth = conv.taps();
            this.gemm = new MveGemmKernel(
                    gather.isPresent() ? (depth + 15) / 16 * 16 : depth,
                    knobs.pixels(),
                    knobs.block(),
                    filled(),
                    MveEpilogue.of(rescale),
                    conv.channels() % knobs.block() != 0,
                    new MveGemmKernel.Loop(knobs.unroll(), knobs.isPipelined(), knobs.isPacked()));
            this.packed = tables.add("packed", DType.INT8, pack());
        }

        LayerLoops loops() {
            return new LayerLoops(body(), executedMacs()).sharing(gemm.pixels());
        }

        /** Multiply-accumulates of the loops: whole vectors and blocks, padding included. */
        private long executedMacs() {
            long pixels = (long) conv.output().dim(1) * conv.output().dim(2);
            long products = (long) gemm.vectors() * MveGemmKernel.VECTOR;
            return conv.output().dim(0) * pixels * roundUp(conv.channels(), filled()) * products;
        }

        /** Channels of a block that have weights. */
        private int filled() {
            return Math.min(knobs.block(), conv.channels());
        }

        private static long roundUp(int value, int multiple) {
            return (long) (value + multiple - 1) / multiple * multiple;
        }

        private Bytes pack() {
            int blocks = (conv.channels() + knobs.block() - 1) / knobs.block();
            ByteBuffer table = ByteBuffer.allocate(blocks * gemm.blockBytes()).order(ByteOrder.LITTLE_ENDIAN);
            byte[] weights = conv.weight().data().toArray();
            for (int first = 0; first < conv.channels(); first += knobs.block()) {
                for (int k = 0; k < gemm.vectors() * MveGemmKernel.VECTOR; k += MveGemmKernel.VECTOR) {
                    int step = knobs.isPacked() ? 2 : 1;
                    for (int o = first; o < first + filled(); o += step) {
                        for (int i = k; i < k + MveGemmKernel.VECTOR; i++) {
                            byte one = weight(weights, o, i);
                            boolean isPair = knobs.isPacked();
                            byte next = isPair && o + 1 < first + filled() ? weight(weights, o + 1, i) : 0;
                            table.put(isPair ? (byte) ((one & 0xF) | next << 4) : one);
                        }
                    }
                }
                rescale.putBlock(table, first, knobs.block());
            }
            return Bytes.wrap(table.array());
        }

        /** A weight; 0 behind the last channel and input. */
        private byte weight(byte[] weights, int channel, int i) {
            return channel < conv.channels() && i < conv.taps() ? weights[weightIndex(channel, i)] : 0;
        }

        private int weightIndex(int channel, int i) {
            return gather.map(g -> g.weightIndex(channel, i)).orElseGet(() -> conv.weightIndex(channel, 0, 0, i));
        }

        private Stmt body() {
            BlockBuilder body = new BlockBuilder();
            if (gather.isPresent()) {
                MveGather copying = gather.get();
                Buffer scratch = buffers.scratch(DType.INT8, copying.scratchBytes() + MveGemmKernel.VECTOR - 1L);
                body.loop(
                        "n",
                        conv.output().dim(0),
                        (batch, n) -> lines(batch, (row, y) -> chunks(row, copying, scratch, n, y)));
                return body.build();
            }
            Window w = conv.window();
            boolean flat = rows.areContiguous() && w.strideH() == 1 && w.strideW() == 1;
            body.loop("n", conv.output().dim(0), (batch, n) -> {
                if (flat) {
                    Expr first = rows.firstLine(conv.output());
                    Expr count = sub(rows.endLine(conv.output()), first);
                    inPlace(batch, n, first, mul(count, conv.output().dim(2)));
                } else {
                    lines(
                            batch,
                            (row, y) -> inPlace(row, n, y, imm(conv.output().dim(2))));
                }
            });
            return body.build();
        }

        private void lines(BlockBuilder block, BlockBuilder.LoopBody body) {
            block.loop("y", rows.firstLine(conv.output()), rows.endLine(conv.output()), body);
        }

        private void inPlace(BlockBuilder block, Expr n, Expr y, Expr pixels) {
            int depth = conv.input().dim(3);
            Expr in = MveGather.inputRow(conv, rows, n, mul(y, conv.window().strideH()));
            Buffer x = block.view("x", input, in);
            multiply(
                    block,
                    x,
                    outputRow(block, n, y, imm(0)),
                    pixels,
                    (long) conv.window().strideW() * depth);
        }

        private Buffer outputRow(BlockBuilder block, Expr n, Expr y, Expr x) {
            Expr line = add(mul(n, conv.output().dim(1)), rows.outputLine(y));
            Expr pixel = add(mul(line, conv.output().dim(2)), x);
            return block.mutableView("out", output, mul(pixel, conv.channels()));
        }

        /** An odd number of pixels ends with a single one, unless the number is known only at run time. */
        private void multiply(BlockBuilder block, Buffer x, Buffer out, Expr pixels, long step) {
            if (knobs.isKept()) {
                call(block, gemm.kept(), x, out, pixels, step);
            } else if (gemm.pixels() == 2 && pixels instanceof Expr.IntImm count && count.value() % 2 == 1) {
                long even = count.value() - 1;
                if (even > 0) {
                    call(block, gemm.kernel(), x, out, imm(even), step);
                }
                Buffer lastX = block.view("last_" + x.name(), x, imm(even * step));
                Buffer lastOut = block.mutableView("last_out", out, imm(even * conv.channels()));
                call(block, gemm.single().kernel(), lastX, lastOut, imm(1), step);
            } else {
                call(block, gemm.kernel(), x, out, pixels, step);
            }
        }

        private void call(BlockBuilder block, Kernel kernel, Buffer x, Buffer out, Expr pixels, long step) {
            block.call(
                    kernel,
                    List.of(x, packed, out),
                    List.of(
                            pixels,
                            imm(step),
                            imm(conv.channels()),
                            imm(rescale.requantization().outputZeroPoint()),
                            imm(rescale.low()),
                            imm(rescale.high())));
        }

        /** One output row in chunks of pixels whose windows fit into scratch. */
        private void chunks(BlockBuilder block, MveGather gather, Buffer scratch, Expr n, Expr y) {
            Window w = conv.window();
            Expr top = block.let("top", sub(mul(y, w.strideH()), imm(w.padTop())));
            MveGather.Place place = new MveGather.Place(rows, input, scratch, n, top);
            gather.startRow(block, place);
            int width = conv.output().dim(2);
            for (int x = 0; x < width; x += gather.chunk()) {
                int pixels = Math.min(gather.chunk(), width - x);
                BlockBuilder chunk = new BlockBuilder();
                Buffer windows = gather.windows(chunk, place, x, pixels);
                multiply(chunk, windows, outputRow(chunk, n, y, imm(x)), imm(pixels), gather.step());
                block.add(chunk.build());
            }
        }
    }

    /**
     * The kernel {@code convolution/mve_gemm} of {@link MveGemmSchedule}: dot products of a run of pixels with blocks of output channels, rescaled to int8.
     *
     * @param depth products of one dot product
     * @param pixels pixels computed together, 1 or 2
     * @param block channels computed together: 4, or 8 for a single pixel
     * @param end how sums become results
     * @param filled channels of the block that have weights: all of them, unless the layer has fewer
     * @param rest whether channels are not a multiple of the block
     * @param loop how the steps of 16 products are written
     */
    public record MveGemmKernel(
            int depth, int pixels, int block, int filled, MveEpilogue end, boolean rest, Loop loop) {

        static final int VECTOR = 16;

        /** Reads a word of a table of bytes without vector loads. */
        private static final Intrinsic WORD = Intrinsic.inFile("convolution/kiln_mve_word", List.of(), DType.INT32);

        /** More unrolled steps than the rules choose. */
        private static final int MANY = 9;

        private static final MveSteps.Instructions SET =
                new MveSteps.Instructions("vldrb.8", "vldrb.8", VECTOR, "vmladav.s8", "vmladava.s8");

        /**
         * How steps of 16 products are written.
         *
         * @param unroll number of them in the loop: all of them are written out if there are no more than this
         * @param isPipelined whether two pixels times four channels load for the next step between multiplications
         * @param isPacked whether weights of two channels share a byte
         */
        record Loop(int unroll, boolean isPipelined, boolean isPacked) {}

        /** Bytes of a block: weights, then bias, multiplier and shift of each channel. */
        public int blockBytes() {
            return weightVectors() * vectors() * VECTOR + 12 * block;
        }

        /** Whether a byte holds weights of two channels, the first in its lower half. */
        public boolean isPacked() {
            return loop.isPacked;
        }

        /** Vectors of weights of a step. */
        public int weightVectors() {
            return isPacked() ? (filled + 1) / 2 : filled;
        }

        /** Steps of 16 products, of which the last one may have fewer. */
        int vectors() {
            return (depth + VECTOR - 1) / VECTOR;
        }

        Kernel kernel() {
            String name = "kiln_mve_gemm_" + depth + "_" + pixels + "x" + block + end.suffix()
                    + (filled < block ? "_of" + filled : rest ? "_r" : "")
                    + (loop.unroll > MANY ? "_unroll" + loop.unroll : "")
                    + (steps().isPipelined() ? "_pipelined" : "")
                    + (isPacked() ? "_packed" : "");
            return new Kernel(
                    name,
                    Pointer.lastWritten(DType.INT8, DType.INT8, DType.INT8),
                    List.of(DType.INT32, DType.INT32, DType.INT32, DType.INT32, DType.INT32, DType.INT32),
                    List.of(),
                    KernelSheet.text((out, html) -> Jtemve_gemmGenerated.render(out, html, name, this)),
                    Stream.concat(end.twins().stream(), Stream.of(WORD)).toList());
        }

        /** The loop over the products. */
        public MveSteps steps() {
            boolean isPipelined = loop.isPipelined && MveSteps.canPipeline(pixels, filled);
            return new MveSteps(SET, pixels, filled, loop.unroll, isPipelined, isPacked());
        }

        /** The kernel {@code convolution/mve_gemm_kept} for at most 16 products: a block of four channels stays in registers for all pixels. */
        Kernel kept() {
            String name = "kiln_mve_gemm_" + depth + "_1x4_kept" + end.suffix();
            return Kernel.of(
                    name,
                    Pointer.lastWritten(DType.INT8, DType.INT8, DType.INT8),
                    6,
                    (out, html) -> Jtemve_gemm_keptGenerated.render(out, html, name, depth, end),
                    end.twin(),
                    WORD);
        }

        /** The kernel for a single pixel that reads the same table. */
        MveGemmKernel single() {
            return new MveGemmKernel(depth, 1, block, filled, end, rest, loop);
        }
    }
}
