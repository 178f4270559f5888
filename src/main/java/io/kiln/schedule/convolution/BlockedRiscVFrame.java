// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.schedule.parts.ScalarRequantize;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Registers and stack of the RISC-V kernels of {@link BlockedKernel} and of {@link SumsKernel}. While summing, registers are, in this order: inputs
 * of each pixel, weights, their end, an input, a product, the weights of a step, sums.
 *
 * @param pixels pixels of a block
 * @param channels channels of a block
 */
public record BlockedRiscVFrame(int pixels, int channels) {
    /** Callee-saved registers, and the return address. */
    public static final List<String> SAVED =
            List.of("ra", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11");

    private static final List<String> REGISTERS = Stream.of(
                    IntStream.range(0, 8).mapToObj(i -> "a" + i),
                    IntStream.range(0, 7).mapToObj(i -> "t" + i),
                    SAVED.stream())
            .flatMap(registers -> registers)
            .toList();

    // Offsets on the stack of what the kernels of BlockedKernel keep there.
    public static final int INPUT = 0; // of the first pixel
    public static final int STRIDE = 4; // elements between pixels of the input
    public static final int END = 8; // of the first pixel's inputs
    public static final int SKIP = 12; // how far inputs go back, because the first passage of the loop begins late
    public static final int SKIP_WEIGHTS = 16; // how far weights do
    public static final int ENTRY = 20; // where the first passage enters the loop
    public static final int CONSTANTS = 24; // of the next channels
    public static final int OUT = 28; // the next channels' outputs
    public static final int OUT_STRIDE = 32; // elements between pixels of the output
    public static final int REST = 36; // channels left
    public static final int LOWEST = 40; // the lower limit before the shift
    public static final int HIGHEST = 44; // the upper one
    public static final int SAVED_AT = 48; // saved registers
    public static final int FRAME = 112; // the size; the arguments that are not in registers follow
    public static final int SCALE = FRAME; // bits by which sums are scaled
    public static final int SHIFT = FRAME + 4; // bits of the shift
    public static final int PARAMETER = FRAME + 8; // what the correction needs

    /** Offset on the stack of the limits, if they are arguments. */
    public static int limits(ScalarRequantize rescale) {
        return PARAMETER + (rescale.correction().parameter().isPresent() ? 4 : 0);
    }

    public String input(int pixel) {
        return REGISTERS.get(pixel);
    }

    public String weights() {
        return REGISTERS.get(pixels);
    }

    public String end() {
        return REGISTERS.get(pixels + 1);
    }

    public String value() {
        return REGISTERS.get(pixels + 2);
    }

    public String product() {
        return REGISTERS.get(pixels + 3);
    }

    public String weight(int channel) {
        return REGISTERS.get(pixels + 4 + channel);
    }

    public String sum(int channel, int pixel) {
        return REGISTERS.get(pixels + 4 + channels + channel * pixels + pixel);
    }

    /** Those of a channel, pixel by pixel. */
    public List<String> sums(int channel) {
        return IntStream.range(0, pixels).mapToObj(p -> sum(channel, p)).toList();
    }

    /** A register that is left while summing. */
    public String spare() {
        return REGISTERS.get(spareIndex());
    }

    /** The inputs of two steps in turn; one pixel leaves registers enough. */
    public String value(int step) {
        return step % 2 == 0 ? value() : REGISTERS.get(spareIndex() + 1);
    }

    private int spareIndex() {
        return pixels + 4 + channels + channels * pixels;
    }

    /** Registers that are neither pointers nor sums, given how many are needed for weights. */
    public List<String> left(int weights) {
        List<String> left = new ArrayList<>(REGISTERS.subList(pixels + 4 + weights, pixels + 4 + channels));
        left.addAll(REGISTERS.subList(spareIndex(), REGISTERS.size()));
        return left;
    }

    /** Registers that are free after summing: neither sums nor the pointer to weights. */
    public List<String> free() {
        List<String> free = new ArrayList<>(REGISTERS);
        free.remove(weights());
        for (int c = 0; c < channels; c++) {
            for (int p = 0; p < pixels; p++) {
                free.remove(sum(c, p));
            }
        }
        return free;
    }
}
