// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.ir.op.Window;
import io.kiln.lower.ProvenRescale;
import io.kiln.schedule.parts.RescaleCorrection;
import io.kiln.schedule.parts.ScalarRescale;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.List;
import java.util.Locale;

/**
 * The micro-kernel of {@link BlockedDepthwise}: one output channel of each input channel, for a few neighbouring pixels. Pointers: rows under the windows, padding
 * included; weights {@code [channel][ky][kx]}; constants of the rescaling; output.
 *
 * @param window rows and columns, and columns between windows and between taps
 * @param pixels pixels computed at once
 * @param channels channels of the input
 * @param multiplier output channels of each input channel
 * @param row elements between rows
 * @param rescale the rescaling
 * @param assembly for the core
 */
record DepthwiseBlock(
        Window window, int pixels, int channels, int multiplier, int row, ScalarRescale rescale, Assembly assembly) {
    private static final KernelText TEXT = KernelText.of("portable/depthwise_block");

    /** The kernel in the instructions of one core. */
    interface Assembly {
        /** Largest number of pixels computed at once; 0 if a window's row does not fit the registers. */
        int mostPixels(Window window);

        /** Whether instructions' offsets reach all inputs and outputs. */
        boolean suits(DepthwiseBlock block);

        /** Preprocessor condition under which it can be used. */
        String condition();

        /** The lines of a naked function with the kernel's parameters. */
        String lines(DepthwiseBlock block);
    }

    /** Rows of a window. */
    int kernelH() {
        return window.kernelH();
    }

    /** Columns of a window. */
    int kernelW() {
        return window.kernelW();
    }

    private int stride() {
        return window.strideW();
    }

    private int dilation() {
        return window.dilationW();
    }

    /** Columns of input under the block's windows. */
    int columns() {
        return (pixels - 1) * stride() + (kernelW() - 1) * dilation() + 1;
    }

    /** The tap of a pixel's window that reads a column, or -1. */
    int tap(int column, int pixel) {
        int from = column - pixel * stride();
        return from >= 0 && from % dilation() == 0 && from / dilation() < kernelW() ? from / dilation() : -1;
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

    /** Elements from one pixel to the next in the output. */
    int outputs() {
        return channels * multiplier;
    }

    /** Position of an input, relative to the block's first one. */
    int place(int ky, int column) {
        return ky * row + column * channels;
    }

    /** Equal only for kernels with the same text. */
    private String name() {
        ProvenRescale r = rescale.proven();
        RescaleCorrection correction = rescale.correction();
        String corrected = correction.isSigned()
                ? "_late" + (r.lateOffset() < 0 ? "m" : "") + Math.abs(r.lateOffset())
                : correction.suffix();
        String limits = rescale.isLimited() ? "_limit_" + (rescale.low() + 128) + "_" + (rescale.high() + 128) : "";
        String times = multiplier > 1 ? "_times" + multiplier : "";
        return String.format(
                        Locale.ROOT,
                        "kiln_depthwise_block_%dx%d_pixels%d_stride%d_dilation%d_c%d%s_row%d_scale%d_shift%d",
                        kernelH(),
                        kernelW(),
                        pixels,
                        stride(),
                        dilation(),
                        channels,
                        times,
                        row,
                        r.scaleBits(),
                        r.shift())
                + corrected
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

    private String definition() {
        ProvenRescale r = rescale.proven();
        RescaleCorrection correction = rescale.correction();
        String corrected = correction.twin(
                "value",
                i -> String.format(Locale.ROOT, "rescale[%d * c + %d]", correction.constants(), 2 + i),
                "" + correction.argument());
        return TEXT.with("NAME", name())
                .with("PIXELS", pixels)
                .with("KERNEL", kernelH() + "x" + kernelW())
                .with("CONDITION", assembly.condition())
                .with("ASSEMBLY", assembly.lines(this))
                .with("CHANNELS", channels)
                .with("MULTIPLIER", multiplier)
                .with("OUTPUTS", outputs())
                .with("TAPS", kernelH() * kernelW())
                .with("KERNEL_W", kernelW())
                .with("ROW", row)
                .with("STRIDE", stride())
                .with("DILATION", dilation())
                .with("SCALE", 1 << r.scaleBits())
                .with("CONSTANTS", correction.constants())
                .with("CORRECTION", corrected.indent(6))
                .with("SHIFT", r.shift())
                .with("LOW", rescale.low())
                .with("HIGH", rescale.high())
                .text();
    }
}
