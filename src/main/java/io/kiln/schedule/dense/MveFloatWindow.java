// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT32;

import io.kiln.base.DType;
import io.kiln.ir.op.element.Clip;
import io.kiln.kernels.convolution.Jtemve_float_windowGenerated;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.List;
import java.util.Optional;

/**
 * The kernel {@code convolution/mve_float_window}: whole windows of float data on MVE in one call: the sums start with the biases, stay in registers for all rows of the window, and are limited
 * and stored. {@code kernel(input, weights, biases, output, runs)}: the number of runs of taps, of which those from the
 * ring's start on are counted in the upper 16 bits; without it for a single run.
 *
 * @param block pixels and channels
 * @param walk where the input's and the weights' values are
 * @param outputs elements from one pixel of the output to the next
 * @param clip limits
 * @param loop how taps are ordered
 */
public record MveFloatWindow(Block block, Walk walk, int outputs, Optional<Clip> clip, Loop loop) {
    /**
     * What one call computes.
     *
     * @param vectors of four channels; at most 6 times pixels
     */
    public record Block(int pixels, int vectors) {
        int channels() {
            return 4 * vectors;
        }
    }

    /**
     * Elements from one value to another.
     *
     * @param taps of a run
     * @param step from the first tap of a pixel to that of the next
     * @param line from the first tap of a run to that of the next
     * @param weights likewise in the table
     * @param ring of all rows that the input's buffer holds, if they are a ring; otherwise 0
     * @param isOne whether there is never more than one run
     */
    public record Walk(int taps, int step, int line, int weights, int ring, boolean isOne) {}

    /**
     * How taps are ordered.
     *
     * @param unroll taps in a turn of the loop, an even number
     * @param isMany whether eight values of a single pixel are loaded by one instruction
     */
    public record Loop(int unroll, boolean isMany) {}

    /** The micro-kernel. */
    Kernel kernel() {
        return new Kernel(
                name(),
                List.of(Pointer.in(FLOAT32), Pointer.in(FLOAT32), Pointer.in(FLOAT32), Pointer.out(FLOAT32)),
                walk.isOne ? List.<DType>of() : List.of(INT32),
                List.of(),
                KernelSheet.text((out, html) -> Jtemve_float_windowGenerated.render(out, html, name(), this)),
                List.of());
    }

    private String name() {
        return "kiln_mve_windowf_" + block.pixels + "x" + block.channels() + "_" + walk.taps
                + (block.pixels > 1 ? "_step" + walk.step + "_of" + outputs : "")
                + (walk.isOne ? "" : "_line" + walk.line + "_weights" + walk.weights)
                + (isRing() ? "_ring" + walk.ring : "")
                + (loop.unroll > 2 ? "_unroll" + loop.unroll : "")
                + (loop.isMany && block.pixels == 1 ? "_many" : "")
                + low().map(value -> "_low" + Integer.toHexString(bits(value))).orElse("")
                + high().map(value -> "_high" + Integer.toHexString(bits(value)))
                        .orElse("");
    }

    /** Whether rows may lie behind the end of a ring. */
    public boolean isRing() {
        return !walk.isOne && walk.ring > 0;
    }

    /** The lower limit. */
    public Optional<Float> low() {
        return clip.map(limits -> (float) limits.min()).filter(value -> value > -Float.MAX_VALUE);
    }

    /** The upper limit. */
    public Optional<Float> high() {
        return clip.map(limits -> (float) limits.max()).filter(value -> value < Float.MAX_VALUE);
    }

    private static int bits(float value) {
        return Float.floatToIntBits(value);
    }
}
