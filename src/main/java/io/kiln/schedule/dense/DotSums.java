// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;

import io.kiln.base.DType;
import io.kiln.kernels.requantize.Jteint16Generated;
import io.kiln.lower.Epilogue;
import io.kiln.lower.Int16Requantize;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.Limits;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.BiasTable;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.space.ConvTask;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** The sums of {@link DotConvSchedule} between the calls of its kernel: of some pixels times a block of channels. */
final class DotSums {
    private final ConvComputation conv;
    private final int channels;
    private final BiasTable bias;
    private final Optional<DotResults> results;
    private final Optional<Epilogue> epilogue;
    private final Optional<Buffer> multipliers;
    private final Optional<Buffer> sums;
    private final Optional<Buffer> wide;
    private final Buffer output;

    /** Whether a block has a pointer to its results: counted on Cortex-M4F, Clang's address for each cost 3 % of a layer of 32 to 16 channels. */
    private final boolean isPointed;

    /**
     * Reserves scratch and makes tables.
     *
     * @param pixels largest number of pixels computed together
     * @param isFlushed whether 64 bits are needed before the end of a window
     * @param isEnding whether the kernel ends sums whose results are upper halves of products
     */
    DotSums(ConvTask task, DotKernel kernel, int pixels, boolean isFlushed, boolean isEnding) {
        this.conv = task.conv();
        this.channels = kernel.channels();
        this.bias = DotInputs.areCopied(conv, kernel)
                ? BiasTable.ofFilled(conv, task.tables())
                : BiasTable.of(conv, task.tables());
        this.multipliers = isEnding
                ? upper(conv, bias).map(each -> task.tables().add("multiplier", DType.INT32, each))
                : Optional.empty();
        this.results = kernel.hasCommonResults() && !isFlushed && !isWide()
                ? DotResults.of(conv, channels, bias.bound(), task.tables())
                : Optional.empty();
        this.epilogue = multipliers.isPresent() || results.isPresent()
                ? Optional.empty()
                : Optional.of(new Epilogue(conv.op(), bias.bound(), task.tables()));
        this.output = task.buffers().output();
        this.isPointed = !conv.isFloat()
                && !conv.isTransposed()
                && !task.workload().features().hasMve();
        long block = (long) pixels * channels;
        this.sums = multipliers.isPresent()
                ? Optional.empty()
                : Optional.of(task.buffers().scratch(kernel.sum(), block));
        this.wide = isFlushed ? Optional.of(task.buffers().scratch(INT64, block)) : Optional.empty();
    }

    /** The multiplier of each channel, if every int16 result is the upper half of a 32-bit sum's product with it. */
    private static Optional<int[]> upper(ConvComputation conv, BiasTable bias) {
        Limits limits = Limits.of(conv.op());
        boolean isWhole = limits.low() == Short.MIN_VALUE && limits.high() == Short.MAX_VALUE;
        return isWhole && bias.buffer().dtype() == DType.INT32
                ? Int16Requantize.high(conv.op(), conv.channels(), bias.bound())
                        .map(each -> each.stream().mapToInt(m -> m).toArray())
                : Optional.empty();
    }

    /** Whether the kernel ends the sums, with {@link #ends}. */
    boolean areUpper() {
        return multipliers.isPresent();
    }

    /**
     * The pointers of the kernel that does.
     *
     * @param factors first input and weight
     * @param oc first channel
     * @param out position of the first pixel's channel 0 in the output
     */
    List<Buffer> ends(BlockBuilder block, List<Buffer> factors, Expr oc, Expr out) {
        List<Buffer> pointers = new ArrayList<>(factors);
        pointers.add(block.view("start", bias.buffer(), oc));
        pointers.add(block.view("by", multipliers.orElseThrow(), oc));
        pointers.add(block.mutableView("out", output, add(out, oc)));
        return pointers;
    }

    /** Whether results need more than 32 bits. */
    boolean isWide() {
        return bias.buffer().dtype() == INT64;
    }

    /** Initial values of the sums by channel. */
    Buffer biases() {
        return bias.buffer();
    }

    /** The sums that the kernel updates: by pixel, then by channel. */
    Buffer buffer() {
        return sums.orElseThrow();
    }

    /**
     * Emits the start of a block.
     *
     * @param pixels their number
     * @param oc first channel
     * @param valid number of channels that exist
     */
    void start(BlockBuilder block, int pixels, Expr oc, int valid) {
        for (int o = 0; o < channels; o++) {
            boolean isRead = o < valid && (!isWide() || wide.isPresent());
            Expr first = isRead
                    ? block.let("start" + o, load(bias.buffer(), add(oc, o)))
                    : zero(bias.buffer().dtype());
            for (int p = 0; p < pixels; p++) {
                Expr index = imm((long) p * channels + o);
                block.store(buffer(), index, isWide() ? zero(buffer().dtype()) : first);
                wide.ifPresent(w -> block.store(w, index, first));
            }
        }
    }

    private static Expr zero(DType dtype) {
        return dtype.isFloat() ? imm(0f) : imm(0, dtype);
    }

    /** Emits, after a part of a run, the addition of the sums to those of 64 bits, if there are any. */
    void flush(BlockBuilder block, int pixels) {
        wide.ifPresent(w -> block.loop("s", (long) pixels * channels, (each, s) -> {
            each.store(w, s, add(load(w, s), cast(INT64, load(buffer(), s))));
            each.store(buffer(), s, imm(0));
        }));
    }

    /**
     * Emits the end of a block.
     *
     * @param out position of the first pixel's channel 0 in the output
     */
    void store(BlockBuilder block, int pixels, Expr oc, int valid, Expr out) {
        long step = (long) conv.upsampling().strideW() * conv.channels();
        if (results.isPresent()) {
            Buffer to = block.mutableView("out", output, add(out, oc));
            results.get().store(block, new DotResults.Block(pixels, oc, valid, step), buffer(), to);
            return;
        }
        Buffer to = isPointed ? block.mutableView("out", output, add(out, oc)) : output;
        Expr origin = isPointed ? imm(0) : add(out, oc);
        for (int p = 0; p < pixels; p++) {
            for (int o = 0; o < valid; o++) {
                String suffix = p + "_" + o;
                Expr channel = add(oc, o);
                Expr sum = block.let("sum" + suffix, load(wide.orElseGet(this::buffer), imm((long) p * channels + o)));
                boolean isBiasLeft = isWide() && wide.isEmpty();
                Expr biased = isBiasLeft ? add(cast(INT64, sum), load(bias.buffer(), channel)) : sum;
                epilogue.orElseThrow().store(block, suffix, biased, channel, to, add(origin, p * step + o));
            }
        }
    }

    /**
     * The rescaling of a block's sums of 32 bits to int16 by one function, of which a model has a single copy.
     *
     * @param conv the layer
     * @param block channels of a block
     * @param multipliers of each channel
     * @param limits of the results
     */
    record DotResults(ConvComputation conv, int block, Buffer multipliers, Limits limits) {
        /**
         * For a layer of int16 data; empty if its results are not the upper halves of its sums times multipliers.
         *
         * @param block channels of a block
         * @param bound largest magnitude of a sum
         * @param tables receives the multipliers
         */
        static Optional<DotResults> of(ConvComputation conv, int block, long bound, Tables tables) {
            if (conv.dataType() != INT16) {
                return Optional.empty();
            }
            return Int16Requantize.high(conv.op(), conv.channels(), bound).map(multipliers -> {
                int[] values = multipliers.stream().mapToInt(m -> m).toArray();
                return new DotResults(conv, block, tables.add("multiplier", INT32, values), Limits.of(conv.op()));
            });
        }

        private boolean isLimited() {
            return limits.low() != Short.MIN_VALUE || limits.high() != Short.MAX_VALUE;
        }

        /**
         * Emits the call.
         *
         * @param sums by pixel, then by channel
         * @param out first result
         */
        void store(BlockBuilder code, Block of, Buffer sums, Buffer out) {
            List<Expr> scalars = new ArrayList<>(List.of(Exprs.imm(of.pixels), Exprs.imm(of.step)));
            if (isLimited()) {
                scalars.add(Exprs.imm(limits.low()));
                scalars.add(Exprs.imm(limits.high()));
            }
            Buffer multiplier = code.view("multipliers", multipliers, of.oc);
            code.call(kernel(of.valid), List.of(sums, multiplier, out), scalars);
        }

        /**
         * Sums that are rescaled together.
         *
         * @param pixels their number
         * @param oc first channel
         * @param valid number of channels that exist
         * @param step elements of the output from a pixel to the next one
         */
        record Block(int pixels, Expr oc, int valid, long step) {}

        private Kernel kernel(int valid) {
            String name =
                    "kiln_rescale16_" + valid + (valid < block ? "_of" + block : "") + (isLimited() ? "_limited" : "");
            List<DType> scalars = new ArrayList<>(Collections.nCopies(isLimited() ? 4 : 2, INT32));
            return new Kernel(
                    name,
                    Pointer.lastWritten(INT32, INT32, INT16),
                    scalars,
                    List.of(),
                    KernelSheet.text(
                            (out, html) -> Jteint16Generated.render(out, html, name, valid, block, isLimited())),
                    List.of(Intrinsics.RESCALE_HIGH, isLimited() ? Intrinsics.CLAMP : Intrinsics.SATURATE_16));
        }
    }
}
