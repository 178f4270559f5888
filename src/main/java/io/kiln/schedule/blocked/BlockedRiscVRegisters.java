// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The registers of {@link BlockedRiscV} while summing: inputs of each pixel, weights, their end, an input, a product,
 * the weights of a step, sums.
 *
 * @param pixels pixels of a block
 * @param channels channels of a block
 */
record BlockedRiscVRegisters(int pixels, int channels) {
    /** Callee-saved registers, and the return address. */
    static final List<String> SAVED =
            List.of("ra", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11");

    private static List<String> registers() {
        List<String> all = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            all.add("a" + i);
        }
        for (int i = 0; i < 7; i++) {
            all.add("t" + i);
        }
        all.addAll(SAVED);
        return all;
    }

    String input(int pixel) {
        return registers().get(pixel);
    }

    String weights() {
        return registers().get(pixels);
    }

    String end() {
        return registers().get(pixels + 1);
    }

    String value() {
        return registers().get(pixels + 2);
    }

    String product() {
        return registers().get(pixels + 3);
    }

    String weight(int channel) {
        return registers().get(pixels + 4 + channel);
    }

    String sum(int channel, int pixel) {
        return registers().get(pixels + 4 + channels + channel * pixels + pixel);
    }

    /** Those of a channel, pixel by pixel. */
    List<String> sums(int channel) {
        return IntStream.range(0, pixels).mapToObj(p -> sum(channel, p)).toList();
    }

    /** A register that is left while summing. */
    String spare() {
        return registers().get(spareIndex());
    }

    /** The inputs of two steps in turn; one pixel leaves registers enough. */
    String value(int step) {
        return step % 2 == 0 ? value() : registers().get(spareIndex() + 1);
    }

    private int spareIndex() {
        return pixels + 4 + channels + channels * pixels;
    }

    /** Registers that are neither pointers nor sums, given how many are needed for weights. */
    List<String> left(int weights) {
        List<String> left = new ArrayList<>(registers().subList(pixels + 4 + weights, pixels + 4 + channels));
        left.addAll(registers().subList(spareIndex(), registers().size()));
        return left;
    }

    /** Registers that are free after summing: neither sums nor the pointer to weights. */
    List<String> free() {
        List<String> free = new ArrayList<>(registers());
        free.remove(weights());
        for (int c = 0; c < channels; c++) {
            for (int p = 0; p < pixels; p++) {
                free.remove(sum(c, p));
            }
        }
        return free;
    }
}
