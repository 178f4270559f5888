// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.base.DType;
import io.kiln.kernels.depthwise.Jteint16Generated;
import io.kiln.kernels.depthwise.Jteint16_blocksGenerated;
import io.kiln.lower.Intrinsics;
import io.kiln.schedule.parts.InstructionSets;
import io.kiln.schedule.parts.PixelTile;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** A micro-kernel of {@link Int16DepthwiseSchedule}: the results of neighbouring pixels, a block of channels after the other. */
public sealed interface Int16DepthwiseKernel {
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
                Pointer.lastWritten(DType.INT16, DType.INT32, DType.INT16),
                Collections.nCopies(scalars, DType.INT32),
                List.of(),
                definition,
                uses);
    }

    /** A kernel of {@code depthwise/int16_blocks}: blocks of channels in assembly. */
    sealed interface Blocks extends Int16DepthwiseKernel {
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

    /**
     * The kernel {@code depthwise/int16}: one channel after the other, for cores without vectors.
     *
     * @param hasLongMultiply whether a multiplication takes any registers; Armv6-M multiplies only in eight of them
     */
    record PortableInt16Taps(boolean hasLongMultiply) implements Int16DepthwiseKernel {
        @Override
        public String title() {
            return "depthwise16";
        }

        @Override
        public String reason() {
            return "pixels side by side share inputs and weights; sums are proven to fit 32 bits";
        }

        @Override
        public int pixels() {
            return hasLongMultiply ? 4 : 2;
        }

        @Override
        public int channels() {
            return 1;
        }

        @Override
        public void put(ByteBuffer table, int weight) {
            if (hasLongMultiply) {
                table.put((byte) weight);
            } else {
                table.putInt(weight);
            }
        }

        @Override
        public int weightBytes() {
            return hasLongMultiply ? 1 : Integer.BYTES;
        }

        @Override
        public Kernel kernel(Place place) {
            String name = "kiln_depthwise16_" + place.suffix();
            Intrinsic limit = place.isLimited() ? Intrinsics.CLAMP : Intrinsics.SATURATE_16;
            String definition = KernelSheet.text((out, html) -> Jteint16Generated.render(out, html, name, this, place));
            return Int16DepthwiseKernel.kernel(name, place, definition, List.of(Intrinsics.RESCALE_HIGH, limit));
        }
    }

    /**
     * The kernel {@code depthwise/mve_int16}: eight channels in two vectors of even and odd ones. A layer of fewer channels is a single block of
     * predicated instructions.
     */
    record MveInt16Taps() implements Int16DepthwiseKernel.Blocks {
        /** Channels of a block. */
        public static final int CHANNELS = 8;

        /** Largest offset of a vector of halfwords. */
        public static final int REACH = 254;

        private static final int PIXELS = 2;

        @Override
        public String title() {
            return "mve_depthwise16";
        }

        @Override
        public String reason() {
            return "eight channels in one instruction (MVE); sums are proven to fit 32 bits";
        }

        @Override
        public int pixels() {
            return PIXELS;
        }

        @Override
        public int channels() {
            return CHANNELS;
        }

        @Override
        public int order(int place) {
            return place % (CHANNELS / 2) * 2 + place / (CHANNELS / 2);
        }

        @Override
        public void put(ByteBuffer table, int weight) {
            table.put((byte) weight);
        }

        @Override
        public int weightBytes() {
            return 1;
        }

        @Override
        public String condition() {
            return "defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)";
        }

        @Override
        public String orderInC(String channel) {
            return "(%1) % 2 * 4 + (%1) / 2".replace("%1", channel);
        }

        @Override
        public String weightInC(String index) {
            return "((const int8_t*)(table + 8))[" + index + "]";
        }
    }

    /**
     * The kernel {@code depthwise/thumb2_int16}: two channels side by side where there are Arm's DSP instructions, otherwise one.
     *
     * <p>Weights of two channels are int16, since there is no product with a byte.
     *
     * @param hasDsp whether there are DSP instructions
     */
    record ThumbInt16Taps(boolean hasDsp) implements Int16DepthwiseKernel.Blocks {
        /** Largest immediate offset of a load. */
        public static final int REACH = InstructionSets.LOAD_REACH;

        /** Channels that a layer needs for DSP instructions. */
        static final int PAIR = 2;

        private static final int SUM_REGISTERS = 6;
        private static final int WEIGHT_REGISTERS = 3;

        @Override
        public String title() {
            return hasDsp ? "dsp_depthwise16" : "thumb_depthwise16";
        }

        @Override
        public String reason() {
            return "pixels side by side share inputs" + (hasDsp ? " and weights of two channels" : " and weights")
                    + "; sums are proven to fit 32 bits";
        }

        @Override
        public int pixels() {
            return SUM_REGISTERS / channels();
        }

        @Override
        public int channels() {
            return hasDsp ? PAIR : 1;
        }

        @Override
        public void put(ByteBuffer table, int weight) {
            if (hasDsp) {
                table.putShort((short) weight);
            } else {
                table.put((byte) weight);
            }
        }

        @Override
        public int weightBytes() {
            return hasDsp ? Short.BYTES : 1;
        }

        /** Bytes of a tap's weights in the table. */
        public int tapBytes() {
            return channels() * weightBytes();
        }

        @Override
        public String condition() {
            return hasDsp ? "defined(__ARM_FEATURE_DSP) && defined(__thumb__)" : InstructionSets.THUMB_2;
        }

        @Override
        public String weightInC(String index) {
            return hasDsp
                    ? "(int16_t)(uint16_t)((uint32_t)table[2 + (%1) / 2] >> ((%1) % 2 * 16))".replace("%1", index)
                    : "((const int8_t*)(table + 1))[" + index + "]";
        }

        /** The columns of a row that some window reads, by one or two that are loaded together: near each other, and with no more taps than registers. */
        public List<List<Integer>> columns(Place place) {
            List<Integer> all = place.tile().columns();
            List<List<Integer>> loads = new ArrayList<>();
            for (int i = 0; i < all.size(); ) {
                List<Integer> two = all.subList(i, Math.min(i + 2, all.size()));
                int apart = (two.get(two.size() - 1) - two.get(0)) * Short.BYTES * place.channels();
                boolean areNear = apart <= REACH && place.tile().taps(two).size() <= WEIGHT_REGISTERS;
                loads.add(areNear ? two : two.subList(0, 1));
                i += loads.get(loads.size() - 1).size();
            }
            return loads;
        }

        /** Taps by as many as there are registers for their weights. */
        public static List<List<Integer>> together(List<Integer> taps) {
            List<List<Integer>> parts = new ArrayList<>();
            for (int i = 0; i < taps.size(); i += WEIGHT_REGISTERS) {
                parts.add(taps.subList(i, Math.min(i + WEIGHT_REGISTERS, taps.size())));
            }
            return parts;
        }

        /**
         * The first register that holds none of the taps.
         *
         * @param held the tap whose weights each register holds
         */
        public static int free(List<Integer> held, List<Integer> taps) {
            return IntStream.range(0, held.size())
                    .filter(r -> !taps.contains(held.get(r)))
                    .findFirst()
                    .orElseThrow();
        }
    }
}
