// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Constant;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.tir.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The weights of a layer as words, so that one instruction makes them integers with a common exponent in each output channel: a signed
 * significand of 24 bits, and in the lowest byte the number of bits by which it is shifted right.
 *
 * <pre>
 * word &gt;&gt; (word &amp; 255)   is   weight * 2^(bits - exponent of the channel's largest weight), rounded down
 * </pre>
 *
 * <p>The significand is within 2^-23 of the weight. At most 31 bits are shifted, for RISC-V's instructions: a weight less than 2^-24 of its channel's
 * largest one may lose bits instead, and is then within 2^-46 of the largest one, but never 0: its product with an infinite input is infinite.
 *
 * @param table by block of channels, then by tap, then by channel of the block; 0 beyond the last channel and tap
 * @param scale exponent of each channel's largest weight, plus {@code 31 - bits}
 * @param magnitude largest sum of a channel's integers, without their signs
 */
public record SoftWeights(Buffer table, Buffer scale, long magnitude) {
    /** Most bits of the largest integer. */
    static final int MOST_BITS = 31;

    /** The exponent field of inputs and scales together for which a sum of integers with no bits counts ones. */
    static final int UNIT = 157;

    private static final int SIGNIFICAND = 23;
    private static final int BYTE = 8;
    private static final int MOST_SHIFT = 31;

    /** Whether all weights and biases are finite. */
    public static boolean suits(ConvComputation conv) {
        return isFinite(conv.weight())
                && conv.op().bias().filter(b -> !isFinite(b)).isEmpty();
    }

    private static boolean isFinite(Constant values) {
        for (int i = 0; i < values.elements(); i++) {
            if (!Float.isFinite(values.real(i))) {
                return false;
            }
        }
        return true;
    }

    /**
     * Makes the tables.
     *
     * @param bits of the largest integer
     * @param block channels of a block
     * @param padded taps of a channel in the table
     */
    static SoftWeights of(ConvComputation conv, Tables tables, int bits, int block, int padded) {
        int blocks = (conv.channels() + block - 1) / block;
        int[] words = new int[blocks * block * padded];
        int[] scale = new int[conv.channels()];
        int base = MOST_SHIFT - bits;
        long magnitude = 1;
        for (int o = 0; o < conv.channels(); o++) {
            float[] weights = conv.realTaps(o);
            int top = Integer.MIN_VALUE;
            for (float weight : weights) {
                top = Math.max(top, exponent(weight));
            }
            scale[o] = top == Integer.MIN_VALUE ? 0 : top + base;
            long sum = 0;
            for (int tap = 0; tap < weights.length; tap++) {
                int word = word(weights[tap], top + base);
                words[(o / block * padded + tap) * block + o % block] = word;
                sum += Math.abs((long) (word >> (word & MOST_SHIFT))) + 1;
            }
            magnitude = Math.max(magnitude, sum);
        }
        ByteBuffer data = ByteBuffer.allocate(Integer.BYTES * words.length).order(ByteOrder.LITTLE_ENDIAN);
        data.asIntBuffer().put(words);
        String comment = "24 bits, shifted right by the lowest byte";
        return new SoftWeights(
                tables.add("weight", DType.INT32, Bytes.wrap(data.array()), comment),
                tables.add("scale", DType.INT16, scale),
                magnitude);
    }

    /** The exponent of the power of two above a weight's magnitude when it is rounded; the least integer for 0. */
    private static int exponent(float weight) {
        if (weight == 0) {
            return Integer.MIN_VALUE;
        }
        int exponent = Math.getExponent((double) weight) + 1;
        return Math.abs(significand(weight, exponent)) == 1L << SIGNIFICAND ? exponent + 1 : exponent;
    }

    private static long significand(float weight, int exponent) {
        return (long) Math.rint(Math.scalb((double) weight, SIGNIFICAND - exponent));
    }

    /** The word of a weight in a channel whose integers are weights times {@code 2^(31 - scale)}. */
    private static int word(float weight, int scale) {
        if (weight == 0) {
            return 0;
        }
        int exponent = Math.max(exponent(weight), scale - MOST_SHIFT);
        int significand = (int) significand(weight, exponent);
        int nonZero = significand == 0 ? (int) Math.signum(weight) : significand;
        return nonZero << BYTE | (scale - exponent);
    }
}
