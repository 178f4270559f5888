// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.ir.op.Window;
import io.kiln.kernels.depthwise.Jteriscv_pixelsGenerated;
import io.kiln.kernels.depthwise.Jtethumb1_pixelsGenerated;
import io.kiln.kernels.depthwise.Jtethumb2_pixelsGenerated;
import io.kiln.lower.ProvenRequantize;
import io.kiln.schedule.parts.InstructionSets;
import io.kiln.schedule.parts.RequantizeCorrection;
import io.kiln.schedule.parts.ScalarRequantize;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * The micro-kernel of {@link BlockedDepthwiseSchedule}: one output channel of each input channel, for a few neighbouring pixels. Pointers: rows under the windows, padding
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
        return Kernel.of(name(), Pointer.lastWritten(INT8, INT8, INT32, INT8), 0, definition());
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

    /** The cores that {@link DepthwiseBlock} has assembly for, and what its registers and the reach of its instructions permit. */
    public enum DepthwiseCore {
        /** Nine registers for an input, a window's row of weights, of which two are needed to rescale, and sums; or for four inputs, a weight and sums. */
        ARMV7_M(InstructionSets.THUMB_2) {
            @Override
            int mostPixels(Window window) {
                return isWide(window) ? MOST_IN_TURN : Math.max(0, 8 - Math.max(LEAST_WEIGHTS, window.kernelW()));
            }

            @Override
            boolean suits(DepthwiseBlock block) {
                return block.place(block.kernelH() - 1, block.columns() - 1) <= 65_535
                        && block.pixels() * block.outputs() <= 4095
                        && block.multiplier() <= 255;
            }
        },

        /** Five upper registers for sums. All instructions, of two bytes each, reach the words behind the function. */
        ARMV6_M(InstructionSets.THUMB_1) {
            @Override
            int mostPixels(Window window) {
                return window.kernelW() <= 9 ? 5 : 0;
            }

            @Override
            boolean suits(DepthwiseBlock block) {
                long lines = block.definition()
                        .lines()
                        .filter(line -> line.startsWith("      \""))
                        .count();
                return Short.BYTES * lines <= Thumb1Words.REACH;
            }
        },

        /** Fourteen registers for a window's row of weights, of which two are needed to rescale, and sums. */
        RV32(InstructionSets.RV32_MUL) {
            @Override
            int mostPixels(Window window) {
                return Math.max(0, Math.min(6, 14 - Math.max(LEAST_WEIGHTS, window.kernelW())));
            }

            @Override
            boolean suits(DepthwiseBlock block) {
                return block.place(0, block.columns() - 1) <= 2047
                        && block.pixels() * block.outputs() <= 2047
                        && block.taps() <= 2047;
            }
        };

        /** Pixels of a block whose inputs stay in registers. */
        private static final int MOST_IN_TURN = 4;

        private static final int LEAST_WEIGHTS = 2;

        private final String condition;

        DepthwiseCore(String condition) {
            this.condition = condition;
        }

        /** Preprocessor condition under which the assembly can be used. */
        public String condition() {
            return condition;
        }

        /** Largest number of pixels computed at once; 0 if a window's row does not fit the registers. */
        abstract int mostPixels(Window window);

        /** Whether instructions' offsets reach all inputs and outputs. */
        abstract boolean suits(DepthwiseBlock block);

        /** Whether windows are wider than a block of pixels whose inputs stay in registers, side by side. */
        static boolean isWide(Window window) {
            return window.kernelW() > MOST_IN_TURN && window.strideW() == 1 && window.dilationW() == 1;
        }
    }

    /**
     * Numbers that a function for Armv6-M loads: as an immediate if they fit one, otherwise from words behind the function.
     */
    public static final class Thumb1Words {
        /** Furthest word, in bytes ahead of an instruction. */
        public static final int REACH = 1020;

        /** Local labels from this number on are those of the words. */
        private static final int FIRST_LABEL = 20;

        private final List<Integer> words = new ArrayList<>();

        /** The instruction that loads a number; flags may change. */
        public String load(String register, int value) {
            if (value >= 0 && value <= 255) {
                return "movs " + register + ", #" + value;
            }
            if (!words.contains(value)) {
                words.add(value);
            }
            return "ldr " + register + ", " + (FIRST_LABEL + words.indexOf(value)) + "f";
        }

        /** The words, for the place behind the function's last instruction. */
        public List<String> lines() {
            return IntStream.range(0, words.size())
                    .mapToObj(i -> (FIRST_LABEL + i) + ": .word " + words.get(i))
                    .toList();
        }
    }
}
