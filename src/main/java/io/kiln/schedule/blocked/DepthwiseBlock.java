// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.lower.ProvenRescale;
import io.kiln.schedule.parts.ScalarRescale;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The micro-kernel of {@link BlockedDepthwise}: all channels of a few neighbouring pixels. Pointers: rows under the windows, padding
 * included; weights {@code [channel][ky][kx]}; constants of the rescaling; output.
 *
 * @param kernelH rows of a window
 * @param kernelW columns of a window
 * @param pixels pixels computed at once
 * @param stride columns between windows
 * @param dilation columns between the taps of a window
 * @param channels channels
 * @param row elements between rows
 * @param rescale the rescaling
 * @param assembly for the core
 */
record DepthwiseBlock(
        int kernelH,
        int kernelW,
        int pixels,
        int stride,
        int dilation,
        int channels,
        int row,
        ScalarRescale rescale,
        Assembly assembly) {

    /** The kernel in the instructions of one core. */
    interface Assembly {
        /** Pixels computed at once at most; 0 where a window's row does not fit the registers. */
        int mostPixels(int kernelW);

        /** Whether instructions reach all inputs and outputs. */
        boolean suits(DepthwiseBlock block);

        /** Preprocessor condition under which it can be used. */
        String condition();

        /** The lines of a naked function with the kernel's parameters. */
        String lines(DepthwiseBlock block);
    }

    /** Columns of input under the block's windows. */
    int columns() {
        return (pixels - 1) * stride + (kernelW - 1) * dilation + 1;
    }

    /** Tap of a pixel's window that reads a column, or -1. */
    int tap(int column, int pixel) {
        int from = column - pixel * stride;
        return from >= 0 && from % dilation == 0 && from / dilation < kernelW ? from / dilation : -1;
    }

    /** Whether a column lies under a tap of any pixel. */
    boolean reads(int column) {
        for (int p = 0; p < pixels; p++) {
            if (tap(column, p) >= 0) {
                return true;
            }
        }
        return false;
    }

    /** Place of an input, counted from that of the block's first one. */
    int place(int ky, int column) {
        return ky * row + column * channels;
    }

    /** Equal for kernels of the same text only. */
    private String name() {
        ProvenRescale r = rescale.proven();
        String late = r.hasNegatives() ? "_late" + (r.lateOffset() < 0 ? "m" : "") + Math.abs(r.lateOffset()) : "";
        String limits = rescale.isLimited() ? "_limit_" + (rescale.low() + 128) + "_" + (rescale.high() + 128) : "";
        return "kiln_depthwise_block_%dx%d_pixels%d_stride%d_dilation%d_c%d_row%d_scale%d_shift%d"
                        .formatted(kernelH, kernelW, pixels, stride, dilation, channels, row, r.scaleBits(), r.shift())
                + late
                + limits;
    }

    Kernel kernel() {
        return new Kernel(
                name(),
                List.of(Pointer.in(INT8), Pointer.in(INT8), Pointer.in(INT32), Pointer.out(INT8)),
                List.of(),
                List.of(),
                definition(),
                List.of());
    }

    private static String parameters(String attribute) {
        return Stream.of("const int8_t* x", "const int8_t* w", "const int32_t* rescale", "int8_t* out")
                .map(p -> attribute + p)
                .collect(Collectors.joining(", "));
    }

    private String definition() {
        return """
            /* %d pixels of a depthwise convolution of %dx%d, channel by channel. */
            #if %s
            __attribute__((naked, noinline)) static void %s(%s) {
              __asm__ volatile(
            %s  );
            }
            #else
            static void %s(%s) {
            %s}
            #endif
            """.formatted(
                        pixels,
                        kernelH,
                        kernelW,
                        assembly.condition(),
                        name(),
                        parameters("__attribute__((unused)) "),
                        assembly.lines(this),
                        name(),
                        parameters(""),
                        twin());
    }

    private String twin() {
        ProvenRescale r = rescale.proven();
        int words = r.hasNegatives() ? 3 : 2;
        String late = "      value += %d - (value < 0 ? rescale[3 * c + 2] : 0);\n".formatted(r.lateOffset());
        return """
              for (int32_t c = 0; c < %d; ++c) {
                for (int32_t pixel = 0; pixel < %d; ++pixel) {
                  int32_t sum = 0;
                  for (int32_t k = 0; k < %d; ++k) {
                    sum += x[k / %d * %d + (pixel * %d + k %% %d * %d) * %d + c] * w[%d * c + k];
                  }
                  int32_t value = (int32_t)(((int64_t)(sum * %d) * rescale[%d * c]) >> 32) + rescale[%d * c + 1];
            %s      value >>= %d;
                  out[%d * pixel + c] = (int8_t)(value < %d ? %d : (value > %d ? %d : value));
                }
              }
            """.formatted(
                        channels,
                        pixels,
                        kernelH * kernelW,
                        kernelW,
                        row,
                        stride,
                        kernelW,
                        dilation,
                        channels,
                        kernelH * kernelW,
                        1 << r.scaleBits(),
                        words,
                        words,
                        r.hasNegatives() ? late : "",
                        r.shift(),
                        channels,
                        rescale.low(),
                        rescale.low(),
                        rescale.high(),
                        rescale.high());
    }
}
