// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.base.DType;
import io.kiln.kernels.depthwise.Jteint16_blocksGenerated;
import io.kiln.schedule.parts.PixelTile;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** A micro-kernel of {@link Int16Depthwise}: the results of neighbouring pixels, a block of channels after the other. */
public sealed interface Int16DepthwiseKernel permits Int16DepthwiseKernel.Blocks, PortableInt16Taps {
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

    /** C expression of the place of a channel among a block's biases. */
    default String orderInC(String channel) {
        return channel;
    }

    /** The kernel for a place in a layer. */
    Kernel kernel(Place place);

    /**
     * The kernel of a text.
     *
     * @param uses intrinsics that the text calls
     */
    static Kernel kernel(String name, Place place, String definition, List<Intrinsic> uses) {
        int scalars = 3 + (place.wrap > 0 ? 1 : 0) + (place.isLimited ? 2 : 0);
        return new Kernel(
                name,
                List.of(Pointer.in(DType.INT16), Pointer.in(DType.INT32), Pointer.out(DType.INT16)),
                Collections.nCopies(scalars, DType.INT32),
                List.of(),
                definition,
                uses);
    }

    /** A kernel of {@code depthwise/int16_blocks}: blocks of channels in assembly. */
    sealed interface Blocks extends Int16DepthwiseKernel permits ThumbInt16Taps, MveInt16Taps {
        /** Preprocessor condition of the instructions. */
        String condition();

        /** C expression of a block's weight at an index. */
        String weightInC(String index);

        @Override
        default Kernel kernel(Place place) {
            String name = "kiln_" + title() + "_" + place.suffix();
            String definition =
                    KernelSheet.text((out, html) -> Jteint16_blocksGenerated.render(out, html, name, this, place));
            return Int16DepthwiseKernel.kernel(name, place, definition, List.of());
        }
    }

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
    static Optional<Int16DepthwiseKernel> of(CpuFeatures features, int channels) {
        if (features.hasMve()) {
            return Optional.of(new MveInt16Taps());
        }
        return switch (features.family()) {
            case CORTEX_M ->
                Optional.of(
                        features.hasLongMultiply()
                                ? new ThumbInt16Taps(features.hasDsp() && channels >= ThumbInt16Taps.PAIR)
                                : new PortableInt16Taps(false));
            case RISCV -> Optional.of(new PortableInt16Taps(features.hasLongMultiply()));
            default -> Optional.empty();
        };
    }

    /** The same for a layer on its core. */
    static Optional<Int16DepthwiseKernel> of(Workload workload) {
        return of(workload.features(), workload.conv().channels());
    }
}
