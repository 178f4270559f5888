// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.lower.Epilogue;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.BiasTable;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.parts.PaddedRows;
import io.kiln.schedule.parts.ScalarRequantize;
import io.kiln.schedule.space.ConvTask;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * All channels of a few neighbouring pixels of {@link BlockedDepthwiseSchedule}, in loops.
 *
 * <pre>
 * registers (3 pixels): 3 accumulators, 1 weight, the inputs that windows share, pointers to rows, weights and output
 * weights: as in the model, [ky][kx][channel]
 * </pre>
 */
final class DepthwiseLoops {
    /** Barrier without which compilers load all rows' inputs first and spill them. */
    private static final Kernel IN_ORDER = Kernel.inFile("riscv/kiln_in_order", List.of(), List.of());

    /** Likewise on Armv6-M: all sums advance together. */
    private static final Intrinsic KEPT = Intrinsic.inFile("thumb/kiln_kept", List.of(DType.INT32), DType.INT32);

    /** Number of neighbouring pixels whose sums fit into registers. */
    private static final int MOST_PIXELS = 5;

    /** The same on Armv6-M. */
    private static final int MOST_PIXELS_IN_EIGHT_REGISTERS = 2;

    /** Rows of larger windows are in a loop, to limit code size. */
    private static final int MOST_UNROLLED_TAPS = 64;

    private final ConvComputation conv;
    private final int pixels;
    private final Buffer weights;
    private final Buffer output;
    private final PixelEnd end;
    private final boolean isPacked;
    private final boolean hasEightRegisters;

    /** Converts the sums of one channel to output elements. */
    private interface PixelEnd {
        /** The initial value of each sum. */
        Expr start(BlockBuilder block, Expr channel);

        void store(BlockBuilder block, List<Expr.Var> sums, Expr channel, Expr out);
    }

    /** One high multiplication, proven to be enough. */
    private final class Proven implements PixelEnd {
        private final ScalarRequantize rescale;
        private final Buffer constants;

        Proven(ScalarRequantize rescale, Tables tables) {
            this.rescale = rescale;
            this.constants = rescale.table(tables);
        }

        @Override
        public Expr start(BlockBuilder block, Expr channel) {
            return imm(0);
        }

        @Override
        public void store(BlockBuilder block, List<Expr.Var> sums, Expr channel, Expr out) {
            ScalarRequantize.Constants of = rescale.load(block, "", constants, channel);
            for (int p = 0; p < pixels; p++) {
                rescale.store(block, "" + p, of, sums.get(p), output, place(out, channel, p));
            }
        }
    }

    /** The reference's own steps. */
    private final class Plain implements PixelEnd {
        private final BiasTable bias;
        private final Epilogue epilogue;

        Plain(BiasTable bias, Tables tables) {
            this.bias = bias;
            this.epilogue = new Epilogue(conv.op(), bias.bound(), tables);
        }

        @Override
        public Expr start(BlockBuilder block, Expr channel) {
            return block.let("start", load(bias.buffer(), channel));
        }

        @Override
        public void store(BlockBuilder block, List<Expr.Var> sums, Expr channel, Expr out) {
            for (int p = 0; p < pixels; p++) {
                epilogue.store(block, "" + p, sums.get(p), channel, output, place(out, channel, p));
            }
        }
    }

    private Expr place(Expr out, Expr channel, int pixel) {
        return add(add(out, channel), (long) pixel * conv.channels());
    }

    DepthwiseLoops(ConvTask task, int pixels, Optional<ScalarRequantize> rescale, boolean isPacked) {
        Tables tables = task.tables();
        this.conv = task.conv();
        this.isPacked = isPacked;
        this.hasEightRegisters = hasEightRegisters(task.workload().features());
        this.pixels = pixels;
        this.output = task.buffers().output();
        this.weights = isPacked
                ? FourBitWeights.halvesOfTaps(conv, tables)
                : tables.add(
                        "weight", conv.weight().type().dtype(), conv.weight().data());
        this.end = rescale.isPresent()
                ? new Proven(rescale.get(), tables)
                : new Plain(BiasTable.ofFilled(conv, tables), tables);
    }

    /** Number of neighbouring pixels that can be computed together: as many as registers hold. */
    static int mostPixels(CpuFeatures features) {
        return hasEightRegisters(features) ? MOST_PIXELS_IN_EIGHT_REGISTERS : MOST_PIXELS;
    }

    private static boolean hasEightRegisters(CpuFeatures features) {
        return !features.hasLongMultiply();
    }

    /**
     * Emits the loop over channels, given the inputs under the first window and the position of the first pixel in the
     * output.
     */
    void emit(BlockBuilder block, Buffer in, Expr out) {
        int multiplier = conv.channels() / conv.input().dim(3);
        if (multiplier == 1) {
            block.loop("c", conv.channels(), (inner, c) -> channel(inner, in, c, c, out));
            return;
        }
        block.loop(
                "i",
                conv.input().dim(3),
                (input, i) -> input.loop(
                        "m",
                        multiplier,
                        (inner, m) -> channel(inner, in, i, inner.let("c", add(mul(i, multiplier), m)), out)));
    }

    /** Output channel {@code c} of input channel {@code i}. */
    private void channel(BlockBuilder block, Buffer in, Expr i, Expr c, Expr out) {
        Window w = conv.window();
        List<Expr.Var> sums = new ArrayList<>();
        Expr start = end.start(block, c);
        for (int p = 0; p < pixels; p++) {
            sums.add(block.mutable("acc" + p, start));
        }
        if (w.kernelH() * w.kernelW() > MOST_UNROLLED_TAPS) {
            block.loop("ky", w.kernelH(), (row, ky) -> {
                Buffer inputs = row.view("inputs", in, mul(ky, PaddedRows.rowElements(conv)));
                Buffer taps = row.view("taps", weights, mul(ky, (long) w.kernelW() * conv.channels()));
                row(row, new Row(inputs, taps, 0), i, c, sums);
            });
        } else {
            for (int ky = 0; ky < w.kernelH(); ky++) {
                if (ky > 0) {
                    block.call(IN_ORDER, List.of(), List.of());
                }
                row(block, new Row(in, weights, ky), i, c, sums);
            }
        }
        keep(block, sums);
        end.store(block, sums, c, out);
    }

    private void keep(BlockBuilder block, List<Expr.Var> sums) {
        if (hasEightRegisters) {
            sums.forEach(sum -> block.assign(sum, new Expr.Call(KEPT, List.of(sum))));
        }
    }

    /** A row of the window: row {@code ky} of these buffers of inputs and weights. */
    private record Row(Buffer inputs, Buffer weights, int ky) {}

    private void row(BlockBuilder block, Row row, Expr i, Expr c, List<Expr.Var> sums) {
        Window w = conv.window();
        int channels = conv.input().dim(3);
        for (int kx = 0; kx < w.kernelW(); kx++) {
            int tap = row.ky * w.kernelW() + kx;
            Expr weight = block.let(
                    "w" + tap,
                    isPacked
                            ? FourBitWeights.atTap(conv, weights, imm(tap), c)
                            : load(row.weights, add(c, (long) tap * conv.channels())));
            for (int p = 0; p < pixels; p++) {
                long column = (long) p * w.strideW() + (long) kx * w.dilationW();
                long place = (long) row.ky * PaddedRows.rowElements(conv) + column * channels;
                Expr.Var sum = sums.get(p);
                block.assign(sum, Exprs.add(sum, mul(load(row.inputs, add(i, place)), weight)));
            }
            keep(block, sums);
        }
    }
}
