// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.schedule.parts.InstructionSets;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The kernel {@code depthwise/thumb2_int16}: two channels side by side where there are Arm's DSP instructions, otherwise one.
 *
 * <p>Weights of two channels are int16, since there is no product with a byte.
 *
 * @param hasDsp whether there are DSP instructions
 */
public record ThumbInt16Taps(boolean hasDsp) implements Int16DepthwiseKernel.Blocks {
    /** Largest immediate offset of a load. */
    public static final int REACH = InstructionSets.LOAD_REACH;

    /** Channels that a layer needs for DSP instructions. */
    static final int PAIR = 2;

    private static final int SUM_REGISTERS = 6;
    private static final int WEIGHT_REGISTERS = 3;

    @Override
    public String title() {
        return hasDsp ? "dsp_depthwise16" : "thumb_depthwise16";
    }

    @Override
    public String reason() {
        return "pixels side by side share inputs" + (hasDsp ? " and weights of two channels" : " and weights")
                + "; sums are proven to fit 32 bits";
    }

    @Override
    public int pixels() {
        return SUM_REGISTERS / channels();
    }

    @Override
    public int channels() {
        return hasDsp ? PAIR : 1;
    }

    @Override
    public void put(ByteBuffer table, int weight) {
        if (hasDsp) {
            table.putShort((short) weight);
        } else {
            table.put((byte) weight);
        }
    }

    @Override
    public int weightBytes() {
        return hasDsp ? Short.BYTES : 1;
    }

    /** Bytes of a tap's weights in the table. */
    public int tapBytes() {
        return channels() * weightBytes();
    }

    @Override
    public String condition() {
        return hasDsp ? "defined(__ARM_FEATURE_DSP) && defined(__thumb__)" : InstructionSets.THUMB_2;
    }

    @Override
    public String weightInC(String index) {
        return hasDsp
                ? "(int16_t)(uint16_t)((uint32_t)table[2 + (%1) / 2] >> ((%1) % 2 * 16))".replace("%1", index)
                : "((const int8_t*)(table + 1))[" + index + "]";
    }

    /** The columns of a row that some window reads, by one or two that are loaded together: near each other, and with no more taps than registers. */
    public List<List<Integer>> columns(Place place) {
        List<Integer> all = place.tile().columns();
        List<List<Integer>> loads = new ArrayList<>();
        for (int i = 0; i < all.size(); ) {
            List<Integer> two = all.subList(i, Math.min(i + 2, all.size()));
            int apart = (two.get(two.size() - 1) - two.get(0)) * Short.BYTES * place.channels();
            boolean areNear = apart <= REACH && place.tile().taps(two).size() <= WEIGHT_REGISTERS;
            loads.add(areNear ? two : two.subList(0, 1));
            i += loads.get(loads.size() - 1).size();
        }
        return loads;
    }

    /** Taps by as many as there are registers for their weights. */
    public static List<List<Integer>> together(List<Integer> taps) {
        List<List<Integer>> parts = new ArrayList<>();
        for (int i = 0; i < taps.size(); i += WEIGHT_REGISTERS) {
            parts.add(taps.subList(i, Math.min(i + WEIGHT_REGISTERS, taps.size())));
        }
        return parts;
    }

    /**
     * The first register that holds none of the taps.
     *
     * @param held the tap whose weights each register holds
     */
    public static int free(List<Integer> held, List<Integer> taps) {
        return IntStream.range(0, held.size())
                .filter(r -> !taps.contains(held.get(r)))
                .findFirst()
                .orElseThrow();
    }
}
