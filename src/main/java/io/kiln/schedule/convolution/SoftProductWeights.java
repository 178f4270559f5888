// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.tir.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The constants of {@link SoftProductKernel}. A weight is a word whose lowest 5 bits say by how many bits it is smaller than the channel's scale, a power of
 * two; the whole word is the weight's significand of 31 bits, chosen so that the lowest bits do no harm:
 *
 * <pre>
 * word * 2^(scale - 31 - (word &amp; 31))   is   weight, within 2^-26 of it
 * </pre>
 *
 * <p>A weight less than 2^-31 of its channel's largest one is within 2^-56 of that, but has the sign that it has: its product with an infinite input is infinite.
 *
 * @param table words by channel, then by tap
 * @param start two words for each channel: its bias as a product, and that product's place above the channel's scale; a bias that is too small to count is 0
 */
record SoftProductWeights(Buffer table, Buffer start) {
    private static final int SHIFT_BITS = 5;
    private static final int MOST_SHIFT = (1 << SHIFT_BITS) - 1;
    private static final int WORD_BITS = 31;
    private static final int PRODUCT_BITS = 30;
    private static final int HALF = 16;

    /** The exponent field of a number whose significand has 30 bits, less its power of two. */
    private static final int FIELD = 156;

    /** A bias with a lower place does not count beside the least product for which the kernel takes the usual way. */
    private static final int LEAST_PLACE = -20;

    /** A place that makes the kernel take the other way. */
    private static final int NO_PLACE = 1000;

    /** Makes the tables. */
    static SoftProductWeights of(ConvComputation conv, Tables tables, SoftCore core) {
        int[] words = new int[conv.channels() * conv.taps()];
        int[] starts = new int[2 * conv.channels()];
        for (int o = 0; o < conv.channels(); o++) {
            boolean isZero = true;
            int scale = Integer.MIN_VALUE;
            float[] weights = conv.realTaps(o);
            for (float weight : weights) {
                isZero &= weight == 0;
                scale = weight == 0 ? scale : Math.max(scale, exponent(weight));
            }
            int used = isZero ? 0 : scale;
            for (int tap = 0; tap < weights.length; tap++) {
                words[o * weights.length + tap] = word(weights[tap], used);
            }
            int channel = o;
            float bias = conv.op().bias().map(b -> b.real(channel)).orElse(0f);
            start(starts, o, bias, used, isZero, SoftProductKernel.extra(core));
        }
        return new SoftProductWeights(
                tables.add("weight", DType.INT32, bytes(words), "27 bits, shifted right by the lowest 5"),
                tables.add("start", DType.INT32, bytes(starts), "bias; its place and the scale"));
    }

    private static Bytes bytes(int[] words) {
        ByteBuffer data = ByteBuffer.allocate(Integer.BYTES * words.length).order(ByteOrder.LITTLE_ENDIAN);
        data.asIntBuffer().put(words);
        return Bytes.wrap(data.array());
    }

    /** The exponent of the power of two above a magnitude that is not 0. */
    private static int exponent(float value) {
        return Math.getExponent((double) value) + 1;
    }

    private static int word(float weight, int scale) {
        if (weight == 0) {
            return MOST_SHIFT;
        }
        int shift = Math.min(MOST_SHIFT, scale - exponent(weight));
        double significand = Math.scalb((double) weight, WORD_BITS - scale + shift);
        int upper = (int) Math.rint(Math.scalb(significand - shift, -SHIFT_BITS));
        int ofSameSign = weight > 0 ? Math.max(1, upper) : Math.min(-1, upper);
        return (ofSameSign << SHIFT_BITS) + shift;
    }

    private static void start(int[] starts, int o, float bias, int scale, boolean isZero, int extra) {
        int place = bias == 0 ? LEAST_PLACE : exponent(bias) - PRODUCT_BITS + FIELD - scale;
        boolean counts = bias != 0 && place >= LEAST_PLACE;
        starts[2 * o] = counts ? (int) Math.scalb((double) bias, PRODUCT_BITS - exponent(bias)) << extra : 0;
        int used = isZero ? NO_PLACE : Math.max(LEAST_PLACE, Math.min(NO_PLACE, place));
        starts[2 * o + 1] = used << HALF | ((scale + 1 - extra) & 0xFFFF);
    }
}
