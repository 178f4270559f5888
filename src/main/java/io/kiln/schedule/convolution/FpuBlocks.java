// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.kernels.convolution.JtefpuGenerated;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelSheet;

/**
 * What the kernel {@code convolution/fpu} computes together.
 *
 * @param pixels neighbouring pixels, at most 4
 * @param channels output channels, a multiple of 4
 * @param taps of a step
 * @param unfused percent of the products that are added by instructions of their own; on a Cortex-M4 both take two cycles, and a fused
 *     multiply and add takes three
 */
public record FpuBlocks(int pixels, int channels, int taps, int unfused) {
    private static final int REGISTERS = 32;

    /** Up to this share, in percent, a separate product is added before there is another one. */
    private static final int ONE_AT_A_TIME = 50;

    /** Fewer weights in a load are not worth it. */
    private static final int LEAST_WEIGHTS = 8;

    /** Whether all fits the registers. */
    boolean fit() {
        return weights() >= Math.min(LEAST_WEIGHTS, taps * channels)
                && sums() + weights() + inputs() + products() <= REGISTERS;
    }

    /** The same for another number of pixels. */
    FpuBlocks of(int number) {
        return new FpuBlocks(number, channels, taps, unfused);
    }

    /** Registers for sums. */
    public int sums() {
        return pixels * channels;
    }

    /** Registers for weights: all of a step if several pixels share them, otherwise as many as are left, a part of the step's in each load. */
    public int weights() {
        int all = taps * channels;
        int left = REGISTERS - sums() - taps - products();
        if (pixels > 1 || all <= left || left <= 0) {
            return all;
        }
        int loads = (all + left - 1) / left;
        return (all + loads - 1) / loads;
    }

    /** Registers for inputs: of all pixels, or of one after the other if that is too many. */
    public int inputs() {
        int all = pixels * taps;
        return sums() + weights() + all + products() <= REGISTERS ? all : taps;
    }

    /** Registers for products that are not added yet. */
    private int products() {
        return unfused == 0 ? 0 : unfused <= ONE_AT_A_TIME ? 1 : 2;
    }

    /** Part of the kernel's name. */
    String suffix() {
        return pixels + "x" + channels + (taps == 2 ? "" : "x" + taps) + (unfused == 0 ? "" : "_unfused" + unfused);
    }

    /** The kernel {@code convolution/fpu}: sums of neighbouring pixels times a block of channels in registers. */
    public Kernel kernel(FpuLimits limits) {
        String name = "kiln_fpu_conv_" + suffix() + limits.suffix();
        return limits.kernel(
                name, 11, KernelSheet.text((out, html) -> JtefpuGenerated.render(out, html, name, this, limits)));
    }

    /** A list of registers of single precision. */
    public static String registers(int first, int count) {
        return count == 1 ? "{s" + first + "}" : "{s" + first + "-s" + (first + count - 1) + "}";
    }
}
