// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.wide;

import io.kiln.schedule.parts.PixelTile;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.Kernel;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/** A micro-kernel of {@link WideDepthwise}: the results of neighbouring pixels, a block of channels after the other. */
sealed interface WideKernel permits ThumbWideTaps, MveWideTaps, PlainWideTaps {
    /** Name of the schedule. */
    String title();

    /** The reason why it is chosen, in words. */
    String reason();

    /** Largest number of pixels computed together. */
    int pixels();

    /** Number of channels computed together; a layer may have fewer only if the kernel says so. */
    int channels();

    /** The channel of a block at a place of its biases and multipliers in the table. */
    default int order(int place) {
        return place;
    }

    /** Appends a weight to the table. */
    void put(ByteBuffer table, int weight);

    /** Bytes of a weight in the table. */
    int weightBytes();

    /** Words of a block's weights in the table. */
    default int weightWords(int taps) {
        return (taps * channels() * weightBytes() + Integer.BYTES - 1) / Integer.BYTES;
    }

    /** Words of a block in the table: biases, weights, multipliers. */
    default int blockWords(int taps) {
        return 2 * channels() + weightWords(taps);
    }

    /** Vector registers that assembly changes. */
    default List<String> vectors() {
        return List.of();
    }

    /** The kernel for a place in a layer. */
    Kernel kernel(Place place);

    /**
     * What a kernel is made for.
     *
     * @param tile pixels, and columns of their windows
     * @param rows of a window
     * @param channels elements from a pixel to the next one, in input and output
     * @param step elements from a row of the window to the next one in the input
     * @param wrap elements by which the input's buffer wraps around; 0 if it holds all rows
     * @param isLimited whether results are narrowed to limits
     */
    record Place(PixelTile tile, int rows, int channels, int step, int wrap, boolean isLimited) {
        /** End of the kernel's name. */
        String suffix() {
            return "h" + rows + "_" + tile.suffix() + "_c" + channels + "_row" + step
                    + (wrap > 0 ? "_wrap" + wrap : "")
                    + (isLimited ? "_limited" : "");
        }
    }

    /** The core's kernel for a number of channels. */
    static Optional<WideKernel> of(CpuFeatures features, int channels) {
        if (features.hasMve()) {
            return Optional.of(new MveWideTaps());
        }
        return switch (features.family()) {
            case CORTEX_M ->
                Optional.of(
                        features.hasLongMultiply()
                                ? new ThumbWideTaps(features.hasDsp() && channels >= ThumbWideTaps.PAIR)
                                : new PlainWideTaps(false));
            case RISCV -> Optional.of(new PlainWideTaps(features.hasLongMultiply()));
            default -> Optional.empty();
        };
    }

    /** The same for a layer on its core. */
    static Optional<WideKernel> of(Workload workload) {
        return of(workload.features(), workload.conv().channels());
    }
}
