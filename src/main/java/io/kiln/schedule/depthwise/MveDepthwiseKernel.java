// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.base.DType;
import io.kiln.kernels.depthwise.JtemveGenerated;
import io.kiln.schedule.convolution.MveEpilogue;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.Collections;
import java.util.List;

/**
 * The kernel {@code depthwise/mve} of {@link MveDepthwiseSchedule}: gathers four words of a window, which are up to 16 inputs of an output channel, and multiplies
 * and adds them at once.
 *
 * @param narrow whether weights are loaded for each pixel
 * @param shape of the windows and channels
 * @param end how sums become results
 */
public record MveDepthwiseKernel(boolean narrow, Shape shape, MveEpilogue end) {
    /**
     * Windows and channels.
     *
     * @param passes fours of words of a window
     * @param multiplier output channels of an input channel, of which one is computed
     * @param valid channels that exist of the four
     */
    public record Shape(int passes, int multiplier, int valid) {
        /** Words of a group of four channels: weights, then three for the end. */
        public int groupWords() {
            return 16 * passes + 12;
        }

        /** Whether the registers are enough for weights that are kept. */
        boolean fitsRegisters() {
            return passes == 1;
        }

        private String suffix() {
            return (passes == 1 ? "" : "_words" + 4 * passes)
                    + (multiplier == 1 ? "" : "_every" + multiplier)
                    + (valid == 4 ? "" : "_of" + valid);
        }
    }

    Kernel kernel() {
        String name = "kiln_mve_depthwise" + (narrow ? "_narrow" : "") + shape.suffix() + end.suffix();
        return kernel(name, 7, end, (out, html) -> JtemveGenerated.render(out, html, name, this));
    }

    /**
     * A kernel {@code (x, offsets, packed, out, ...)} with scalars behind these.
     *
     * @param scalars how many
     */
    static Kernel kernel(String name, int scalars, MveEpilogue end, KernelSheet.Template sheet) {
        return new Kernel(
                name,
                Pointer.lastWritten(DType.INT8, DType.INT32, DType.INT32, DType.INT8),
                Collections.nCopies(scalars, DType.INT32),
                List.of(),
                KernelSheet.text(sheet),
                end.twins());
    }
}
