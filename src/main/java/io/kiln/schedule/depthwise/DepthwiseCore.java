// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.ir.op.Window;
import io.kiln.schedule.parts.InstructionSets;
import io.kiln.schedule.parts.Thumb1Words;

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
