// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

/**
 * Sizes of a kernel for one or two pixels and blocks of four output channels.
 *
 * @param pixels pixels computed together
 * @param channels channels of a block, 1 to 4; all four have weights
 * @param steps steps of two inputs; even
 * @param unroll steps in the loop, if there are more than twice as many; even
 * @param pitch bytes from a pixel of the output to the next
 */
record DspConvShape(int pixels, int channels, int steps, int unroll, int pitch) {
    /** Bytes of inputs of both pixels, and of weights. */
    static final int STEP_BYTES = 8;

    /** The same for one pixel. */
    DspConvShape ofOne() {
        return new DspConvShape(1, channels, steps, unroll, pitch);
    }

    /** Steps before the loop. */
    int first() {
        return isStraight() ? steps : (steps - 1) % unroll + 1;
    }

    /** Steps in the loop; 0 for no loop. */
    int loop() {
        return isStraight() ? 0 : unroll;
    }

    private boolean isStraight() {
        return steps <= 2 * unroll;
    }

    /** Bytes of weights and constants of a block. */
    int blockBytes(DspEpilogue epilogue) {
        return STEP_BYTES * steps + channels * epilogue.constants() * Integer.BYTES;
    }

    /** Part of a kernel's name. */
    String suffix() {
        return pixels + "x" + channels + "_" + 2 * steps + (isStraight() ? "" : "_unroll" + unroll) + "_out" + pitch;
    }
}
