// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.bitAnd;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.shl;
import static io.kiln.tir.Exprs.shr;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.Workload;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Weights from -8 to 7, such as those of int4 models, two to a byte of the image. Only the values matter, not the type
 * in the model.
 *
 * <p>Loops read <em>halves</em>: two's complement, the first weight in the lower half. Micro-kernels read
 * <em>sums</em>, {@code first + 16 * second}: multiplied unchanged, such a byte gives {@code first + 16 * second} of
 * the sums of two channels; subtracting the sum over its lower half leaves the second, so that both cost no more
 * instructions than two bytes. Halves and sums differ if the first is negative.
 */
public final class FourBitWeights {
    private static final String KNOB = "weight_bits";
    private static final int PACKED = 4;
    private static final int USUAL = 8;
    private static final int LEAST = -8;
    private static final int MOST = 7;
    private static final int SECOND = 16;
    /** Fewer weights than this do not pay for the code. */
    private static final int FEWEST = 64;

    /** What {@link #halfword} holds, in words. */
    public static final String HALFWORD = "4096 * d + 256 * (c + 8) + 16 * (b + 8) + (a + 8)";

    private FourBitWeights() {}

    /**
     * The weights of four channels for one input in a halfword, as SMLAD multiplies them where they lie: {@value #HALFWORD}.
     *
     * @param taps weights of each channel
     */
    public static int halfword(List<int[]> taps, int i) {
        int low = taps.get(0)[i] - LEAST | (taps.get(1)[i] - LEAST) << 4 | (taps.get(2)[i] - LEAST) << 8;
        return low | (taps.get(3)[i] & 0xF) << 12;
    }

    /** Whether there are enough weights and all are in this range. */
    public static boolean fit(ConvComputation conv) {
        byte[] weights = conv.weight().data().toArray();
        return conv.weight().type().dtype() == DType.INT8
                && weights.length >= FEWEST
                && IntStream.range(0, weights.length).allMatch(i -> weights[i] >= LEAST && weights[i] <= MOST);
    }

    /** The knob of schedules that can pack weights two to a byte. */
    public static Knob knob(ConvComputation conv) {
        return fit(conv) ? Knob.unusual(KNOB, PACKED) : unpacked();
    }

    /** The same where they cannot be. */
    public static Knob unpacked() {
        return Knob.unusual(KNOB);
    }

    /** Whether a configuration packs them. */
    public static boolean arePacked(Configuration configuration) {
        return configuration.number(KNOB, USUAL) == PACKED;
    }

    /** A configuration that packs them, or not. */
    public static Configuration packed(Configuration configuration, boolean isPacked) {
        return configuration.withUnusual(KNOB, isPacked ? PACKED : USUAL, USUAL);
    }

    /** A configuration that packs them if size is optimized, at the cost of time. */
    public static Configuration packed(Configuration configuration, Workload workload) {
        return packed(configuration, pack(workload));
    }

    /** Whether weights are packed by schedules that pay for it with time. */
    public static boolean pack(Workload workload) {
        return workload.isForSize() && fit(workload.conv());
    }

    /**
     * Whether sums of neighbouring channels are between -127 and 127: not so for -8 after a negative weight, or after
     * 0.
     */
    public static boolean areSummable(ConvComputation conv) {
        for (int o = 0; o < conv.channels(); o += 2) {
            int[] first = conv.taps(o);
            int[] second = o + 1 < conv.channels() ? conv.taps(o + 1) : new int[first.length];
            for (int tap = 0; tap < first.length; tap++) {
                int sum = first[tap] + SECOND * second[tap];
                if (sum <= Byte.MIN_VALUE || sum > Byte.MAX_VALUE) {
                    return false;
                }
            }
        }
        return true;
    }

    private static int sum(int[] weights, int pair) {
        return weights[2 * pair] + SECOND * weights[2 * pair + 1];
    }

    /** A table of sums of an even number of weights. */
    public static Buffer sums(String name, int[] weights, Tables tables) {
        byte[] packed = new byte[weights.length / 2];
        IntStream.range(0, packed.length).forEach(i -> packed[i] = (byte) sum(weights, i));
        return tables.add(name, DType.INT8, Bytes.wrap(packed), "Two weights a byte: first + 16 * second.");
    }

    /** A table of halves; an odd number of weights leaves the last half 0. */
    static Buffer halves(String name, byte[] weights, Tables tables) {
        int[] wide = IntStream.range(0, weights.length).map(i -> weights[i]).toArray();
        return halves(name, DType.UINT8, wide, tables);
    }

    /** The same in bytes with or without a sign. */
    public static Buffer halves(String name, DType type, int[] weights, Tables tables) {
        byte[] packed = new byte[(weights.length + 1) / 2];
        for (int i = 0; i < weights.length; i++) {
            packed[i / 2] |= (byte) ((weights[i] & 0xF) << (4 * (i % 2)));
        }
        return tables.add(
                name, type, Bytes.wrap(packed), "Two weights of four bits a byte, the first in the lower half.");
    }

    /** A table of the halves of a depthwise layer, {@code [pair of taps][channel]}: a byte holds two taps of one channel. */
    public static Buffer halvesOfTaps(ConvComputation conv, Tables tables) {
        int channels = conv.channels();
        byte[] weights = conv.weight().data().toArray();
        byte[] ordered = new byte[(conv.taps() + 1) / 2 * 2 * channels];
        for (int i = 0; i < weights.length; i++) {
            int tap = i / channels;
            ordered[(tap / 2 * channels + i % channels) * 2 + tap % 2] = weights[i];
        }
        return halves("weight", ordered, tables);
    }

    /** A weight of {@link #halvesOfTaps}. */
    public static Expr atTap(ConvComputation conv, Buffer table, Expr tap, Expr channel) {
        Expr pair = tap instanceof Expr.IntImm known ? imm(known.value() / 2) : shr(tap, imm(1));
        Expr half = tap instanceof Expr.IntImm known ? imm(known.value() % 2) : bitAnd(tap, imm(1));
        return half(table, add(mul(pair, conv.channels()), channel), half);
    }

    /** The weight in a known half of a byte: 0 is the lower one. */
    public static Expr half(Buffer table, Expr place, int half) {
        return signed(half == 0 ? shl(load(table, place), imm(4)) : load(table, place));
    }

    /** The weight in a half of a byte selected at run time, 0 or 1. */
    static Expr half(Buffer table, Expr place, Expr half) {
        return half instanceof Expr.IntImm known
                ? half(table, place, (int) known.value())
                : signed(shl(load(table, place), sub(imm(4), mul(half, 4))));
    }

    /** The weight at an index. */
    public static Expr at(Buffer table, Expr index) {
        return index instanceof Expr.IntImm known
                ? half(table, imm(known.value() / 2), (int) (known.value() % 2))
                : half(table, shr(index, imm(1)), bitAnd(index, imm(1)));
    }

    /** The upper half of the lowest byte, sign-extended. */
    private static Expr signed(Expr upper) {
        return shr(cast(DType.INT8, upper), imm(4));
    }
}
