// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.Bytes;
import io.kiln.ir.op.Window;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapSums;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The weights of {@link DotConvSchedule}: for each phase of a transposed convolution, per block of channels [run][steps of taps][channel][taps of a
 * step]. A run is a row of the window: taps that are adjacent in the input. It is a pixel of the window if the width is dilated, or if a row is
 * clipped at the input's border and its parts do not begin where a step or a part does that is summed in 32 bits.
 *
 * @param runs number of runs in a window
 * @param taps number of taps in a run
 * @param part number of taps whose sum is certain to fit into 32 bits; the whole run if the window's sum does
 * @param isFlushed whether the sum of the whole window may exceed 32 bits
 */
public record DotWeights(
        ConvComputation conv, DotKernel kernel, Buffer table, int runs, int taps, int part, boolean isFlushed) {
    /** Sum of weight magnitudes up to which a sum of int16 values fits into 32 bits. */
    public static final long MOST_MAGNITUDE = 65_535;

    /** Packs a layer's weights. */
    static DotWeights of(ConvComputation conv, DotKernel kernel, Tables tables) {
        Window w = conv.window();
        boolean isFlushed =
                !conv.isFloat() && TapSums.of(conv).stream().anyMatch(sums -> sums.magnitude() > MOST_MAGNITUDE);
        boolean isSplit = isSplit(conv, kernel, isFlushed);
        int taps = isSplit ? conv.channelsPerGroup() : w.kernelW() * conv.channelsPerGroup();
        int runs = w.kernelH() * (isSplit ? w.kernelW() : 1);
        DotWeights unpacked = new DotWeights(
                conv, kernel, new Buffer("", kernel.table(), 0, Buffer.Scope.CONSTANT), runs, taps, taps, false);
        int part = isFlushed ? unpacked.partThatFits() : taps;
        Buffer table = tables.add("weight", kernel.table(), unpacked.pack());
        return new DotWeights(conv, kernel, table, runs, taps, part, isFlushed);
    }

    private static boolean isSplit(ConvComputation conv, DotKernel kernel, boolean isFlushed) {
        Window w = conv.window();
        boolean isClipped = w.isPadded() && !DotInputs.areCopied(conv, kernel);
        boolean areParts = isFlushed || conv.channelsPerGroup() % kernel.step() != 0;
        return w.kernelW() > 1 && (w.dilationW() > 1 || (isClipped && areParts));
    }

    /** Whether a run is a pixel of the window, of several in a row. */
    boolean isSplit() {
        return runs > conv.window().kernelH();
    }

    /** Channels of a phase, with fillers behind the last. */
    int channelsOfPhase() {
        int block = kernel.channels();
        return (conv.channels() + block - 1) / block * block;
    }

    /** A weight of an output channel, counted through the phases; 0 beyond the last channel and tap of a phase. */
    private double weight(int channel, int run, int tap) {
        int o = channel % channelsOfPhase();
        return o < conv.channels() && tap < taps ? tap(channel / channelsOfPhase() * conv.channels() + o, run, tap) : 0;
    }

    private double tap(int o, int run, int tap) {
        int index = conv.weightIndex(o, run * taps + tap);
        return conv.isFloat() ? conv.weight().real(index) : conv.weight().integer(index) - conv.kernelZeroPoint();
    }

    private int steps() {
        return (taps + kernel.step() - 1) / kernel.step();
    }

    private Bytes pack() {
        int block = kernel.channels();
        int channels = conv.upsampling().phases() * channelsOfPhase();
        ByteBuffer packed = ByteBuffer.allocate(channels * runs * steps() * kernel.step() * kernel.weightBytes())
                .order(ByteOrder.LITTLE_ENDIAN);
        for (int first = 0; first < channels; first += block) {
            for (int step = 0; step < runs * steps(); step++) {
                for (int place = 0; place < block * kernel.step(); place++) {
                    int i = kernel.weightAt(place);
                    int tap = step % steps() * kernel.step() + i % kernel.step();
                    kernel.put(packed, weight(first + i / kernel.step(), step / steps(), tap));
                }
            }
        }
        return Bytes.wrap(packed.array());
    }

    /** Largest number of taps, a multiple of the kernel's steps, for which no sum of any channel exceeds 32 bits. */
    private int partThatFits() {
        int part = steps() * kernel.step();
        while (part > kernel.step() && !fits(part)) {
            part = (part / 2 + kernel.step() - 1) / kernel.step() * kernel.step();
        }
        return part;
    }

    private boolean fits(int part) {
        for (int o = 0; o < conv.upsampling().phases() * channelsOfPhase(); o++) {
            for (int run = 0; run < runs; run++) {
                double magnitude = 0;
                for (int tap = 0; tap < taps; tap++) {
                    magnitude = (tap % part == 0 ? 0 : magnitude) + Math.abs(weight(o, run, tap));
                    if (magnitude > MOST_MAGNITUDE) {
                        return false;
                    }
                }
            }
        }
        return true;
    }

    /**
     * Position of a run's first weight in the table.
     *
     * @param oc first channel of a block, counted through the phases
     */
    Expr at(Expr oc, Expr run) {
        long block = (long) runs * steps() * perStep();
        int channels = kernel.channels();
        Expr first = block % channels == 0 ? mul(oc, block / channels) : Exprs.div(mul(oc, block), imm(channels));
        return add(first, mul(run, (long) steps() * perStep()));
    }

    /** Elements of the table between a run's first weight and that of a tap, a multiple of the kernel's steps. */
    int offset(int tap) {
        return tap / kernel.step() * perStep();
    }

    private int perStep() {
        return kernel.channels()
                * kernel.step()
                * kernel.weightBytes()
                / kernel.table().bytes();
    }
}
