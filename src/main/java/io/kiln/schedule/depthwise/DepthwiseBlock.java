// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.ir.op.Window;
import io.kiln.kernels.depthwise.Jteriscv_pixelsGenerated;
import io.kiln.kernels.depthwise.Jtethumb1_pixelsGenerated;
import io.kiln.kernels.depthwise.Jtethumb2_pixelsGenerated;
import io.kiln.lower.ProvenRequantize;
import io.kiln.schedule.parts.RequantizeCorrection;
import io.kiln.schedule.parts.ScalarRequantize;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

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
 * @param core for which it is written
 */
public record DepthwiseBlock(
        Window window,
        int pixels,
        int channels,
        int multiplier,
        int row,
        ScalarRequantize rescale,
        DepthwiseCore core) {
    /** C's parameters. */
    public static final List<String> PARAMETERS =
            List.of("const int8_t* x", "const int8_t* w", "const int32_t* rescale", "int8_t* out");

    /** Rows of a window. */
    public int kernelH() {
        return window.kernelH();
    }

    /** Columns of a window. */
    public int kernelW() {
        return window.kernelW();
    }

    /** Taps of a window. */
    public int taps() {
        return kernelH() * kernelW();
    }

    /** Whether windows are wider than a block of pixels, side by side. */
    public boolean isWide() {
        return DepthwiseCore.isWide(window);
    }

    /** Columns between windows. */
    public int stride() {
        return window.strideW();
    }

    /** Columns between taps. */
    public int dilation() {
        return window.dilationW();
    }

    /** Columns of input under the block's windows. */
    public int columns() {
        return (pixels - 1) * stride() + (kernelW() - 1) * dilation() + 1;
    }

    /** The tap of a pixel's window that reads a column, or -1. */
    public int tap(int column, int pixel) {
        int from = column - pixel * stride();
        return from >= 0 && from % dilation() == 0 && from / dilation() < kernelW() ? from / dilation() : -1;
    }

    /** Whether a column lies under a tap of any pixel. */
    public boolean reads(int column) {
        return reads(column, 0);
    }

    /** Whether a column lies under a tap of a pixel or of a later one. */
    public boolean reads(int column, int pixel) {
        return IntStream.range(pixel, pixels).anyMatch(p -> tap(column, p) >= 0);
    }

    /** The columns that lie under taps. */
    public List<Integer> readColumns() {
        return IntStream.range(0, columns()).filter(this::reads).boxed().toList();
    }

    /** Elements from one pixel to the next in the output. */
    public int outputs() {
        return channels * multiplier;
    }

    /** Position of an input, relative to the block's first one. */
    public int place(int ky, int column) {
        return ky * row + column * channels;
    }

    /** C name; equal only for kernels with the same text. */
    public String name() {
        ProvenRequantize r = rescale.proven();
        RequantizeCorrection correction = rescale.correction();
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

    /** The C text: the assembly and its twin. */
    String definition() {
        return KernelSheet.text(
                switch (core) {
                    case ARMV7_M -> (out, html) -> Jtethumb2_pixelsGenerated.render(out, html, this);
                    case ARMV6_M -> (out, html) -> Jtethumb1_pixelsGenerated.render(out, html, this);
                    case RV32 -> (out, html) -> Jteriscv_pixelsGenerated.render(out, html, this);
                });
    }
}
