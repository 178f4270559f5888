// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.cmsisnn;

import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;

/**
 * Bytes of the buffers that CMSIS-NN's functions take in their context. Source: {@code arm_*_get_buffer_size} of CMSIS-NN; where versions
 * or compilers differ, what suffices for all.
 */
record BufferSizes(CmsisNnOptions options) {
    /** Input channels that a depthwise convolution gathers at once on MVE ({@code CH_IN_BLOCK_MVE}). */
    private static final int DEPTHWISE_BLOCK = 124;

    /** Kernel size from which on convolutions of int16 take no shortcut. */
    private static final int LARGE_KERNEL = 512;

    /** The buffer of {@code arm_convolve_wrapper_s8}. */
    long convolution(Window window, Shape input) {
        boolean isPointwise = window.kernelH() == 1
                && window.kernelW() == 1
                && !window.isPadded()
                && window.dilationH() == 1
                && window.dilationW() == 1;
        if (isPointwise) {
            return 0;
        }
        long columns = columns(window, input);
        return options.isMve() ? 4 * rounded(columns, 16) : 2 * rounded(columns, 4) * Short.BYTES;
    }

    /** The buffer of {@code arm_convolve_wrapper_s16}. */
    long wideConvolution(Window window, Shape input) {
        long columns = columns(window, input);
        if (options.version().buffersWideInput()) {
            return options.isMve() ? 4 * rounded(columns, 8) * Short.BYTES : 2 * columns * Short.BYTES;
        }
        boolean isFast = columns < LARGE_KERNEL && window.dilationH() == 1 && window.dilationW() == 1;
        return options.isDsp() && !options.isMve() && isFast ? 2 * columns * Short.BYTES : 0;
    }

    /** The buffer of {@code arm_depthwise_conv_wrapper_s8}. */
    long depthwise(Window window, Shape input, int channels) {
        boolean isFast =
                input.dim(3) == channels && input.dim(0) == 1 && window.dilationH() == 1 && window.dilationW() == 1;
        long taps = (long) window.kernelH() * window.kernelW();
        if (!isFast) {
            return 0;
        }
        if (options.isMve()) {
            return 4 * DEPTHWISE_BLOCK * taps;
        }
        boolean isUnrolled =
                window.kernelH() == 3 && window.kernelW() == 3 && window.padTop() <= 1 && window.padLeft() <= 1;
        return options.isDsp() && !isUnrolled ? input.dim(3) * taps * Short.BYTES : 0;
    }

    /** The buffer of {@code arm_depthwise_conv_wrapper_s16}. */
    long wideDepthwise(Window window, Shape input, int channels) {
        long taps = (long) window.kernelH() * window.kernelW();
        boolean isFast =
                input.dim(3) == channels && window.dilationH() == 1 && window.dilationW() == 1 && taps < LARGE_KERNEL;
        if (!isFast) {
            return 0;
        }
        long gathered = input.dim(3) * taps * Short.BYTES;
        return options.isMve() ? 4 * gathered + Long.BYTES : options.isDsp() ? gathered : 0;
    }

    /** The buffer of {@code arm_avgpool_s8} and {@code arm_avgpool_s16}. */
    long average(Shape input) {
        return options.isDsp() && !options.isMve() ? (long) input.dim(3) * Integer.BYTES : 0;
    }

    private static long columns(Window window, Shape input) {
        return (long) window.kernelH() * window.kernelW() * input.dim(3);
    }

    private static long rounded(long elements, int multiple) {
        return (elements + multiple - 1) / multiple * multiple;
    }
}
