// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import java.nio.ByteBuffer;

/**
 * The kernel {@code depthwise/mve_int16}: eight channels in two vectors of even and odd ones. A layer of fewer channels is a single block of
 * predicated instructions.
 */
public record MveInt16Taps() implements Int16DepthwiseKernel.Blocks {
    /** Channels of a block. */
    public static final int CHANNELS = 8;

    /** Largest offset of a vector of halfwords. */
    public static final int REACH = 254;

    private static final int PIXELS = 2;

    @Override
    public String title() {
        return "mve_depthwise16";
    }

    @Override
    public String reason() {
        return "eight channels in one instruction (MVE); sums are proven to fit 32 bits";
    }

    @Override
    public int pixels() {
        return PIXELS;
    }

    @Override
    public int channels() {
        return CHANNELS;
    }

    @Override
    public int order(int place) {
        return place % (CHANNELS / 2) * 2 + place / (CHANNELS / 2);
    }

    @Override
    public void put(ByteBuffer table, int weight) {
        table.put((byte) weight);
    }

    @Override
    public int weightBytes() {
        return 1;
    }

    @Override
    public String condition() {
        return "defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)";
    }

    @Override
    public String orderInC(String channel) {
        return "(%1) % 2 * 4 + (%1) / 2".replace("%1", channel);
    }

    @Override
    public String weightInC(String index) {
        return "((const int8_t*)(table + 8))[" + index + "]";
    }
}
