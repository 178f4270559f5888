// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.base.DType;
import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The sums of a few pixels times a few channels, which {@link BlockedConv} rescales one by one. Pointers: inputs, weights
 * {@code [tap][channel]}, sums {@code [channel][pixel]}. Scalars: elements between pixels, taps.
 *
 * @param core for which it is written
 * @param pixels number of pixels
 * @param channels number of channels
 * @param interleaved whether instructions are interleaved so that few of them wait for the previous one
 * @param values type of the inputs: int8; also int16 of a single pixel
 * @param weightPairs pairs of weights in words, for one pixel and eight channels; not on Armv6-M
 */
record SumsKernel(
        Core core, int pixels, int channels, boolean interleaved, DType values, Optional<WeightPairs> weightPairs) {
    /** Without pairs of weights. */
    SumsKernel(Core core, int pixels, int channels, boolean interleaved, DType values) {
        this(core, pixels, channels, interleaved, values, Optional.empty());
    }

    /** Of int8. */
    SumsKernel(Core core, int pixels, int channels, boolean interleaved) {
        this(core, pixels, channels, interleaved, INT8);
    }

    /** With pairs of weights; interleaved on Armv7-M if sums have 32 bits. */
    static SumsKernel of(Core core, WeightPairs pairs) {
        boolean interleaved = core == Core.ARMV7_M && !pairs.areLong();
        return new SumsKernel(core, 1, CHANNELS_OF_PAIRS, interleaved, INT8, Optional.of(pairs));
    }

    private static final KernelText TEXT = KernelText.of("portable/sums");
    private static final int CHANNELS_OF_PAIRS = 8;

    /** Cores without SIMD. */
    enum Core {
        /** A multiply-accumulate in one instruction, 13 registers: at most eight sums, of one or two pixels. */
        ARMV7_M(AsmText.THUMB_2),
        /** Eight registers that multiply: four sums of one pixel; weights are bytes without a sign, 128 more. */
        ARMV6_M(AsmText.THUMB_1),
        /** 28 registers: at most 16 sums, of one to four pixels. */
        RV32(AsmText.RV32_MUL);

        private final String condition;

        Core(String condition) {
            this.condition = condition;
        }
    }

    /** Whether weights in the table are 128 more. */
    boolean areWeightsMoved() {
        return core == Core.ARMV6_M;
    }

    /** C name. */
    String name() {
        String suffix = areWeightsMoved() ? "_moved" : interleaved ? "_interleaved" : "";
        return String.format(Locale.ROOT, "kiln_sums_of_%dx%d%s%s", pixels, channels, suffix, isWide() ? "_int16" : "")
                + weightPairs.map(WeightPairs::suffix).orElse("");
    }

    private boolean isWide() {
        return values == DType.INT16;
    }

    Kernel kernel() {
        String unused = "__attribute__((unused)) ";
        String text = TEXT.with("NAME", name())
                .with("PIXELS", pixels)
                .with("CHANNELS", channels)
                .with("CONDITION", core.condition)
                .with(
                        "UNUSED_PARAMETERS",
                        unused + "const " + type() + "* x, " + unused + "const " + weights() + "* w, " + unused
                                + "int32_t* sums, " + unused + "int32_t stride, " + unused + "int32_t taps")
                .with("TYPE", type())
                .with("WEIGHTS", "const " + weights() + "* w")
                .with("ASSEMBLY", lines())
                .with("WEIGHT", weight())
                .text();
        return new Kernel(
                name(),
                List.of(Pointer.in(values), Pointer.in(weightPairs.isPresent() ? INT32 : INT8), Pointer.out(INT32)),
                List.of(INT32, INT32),
                List.of(),
                text,
                List.of());
    }

    private String type() {
        return isWide() ? "int16_t" : "int8_t";
    }

    /** C's type of the table. */
    private String weights() {
        return weightPairs.isPresent() ? "int32_t" : "int8_t";
    }

    /** C's expression for a weight. */
    private String weight() {
        if (weightPairs.isPresent()) {
            return weightPairs.get().unpacked("c % 2 == 0", "w[" + channels / 2 + " * i + c / 2]");
        }
        String weight = "w[" + channels + " * i + c]";
        return areWeightsMoved() ? "((uint8_t)" + weight + " - 128)" : weight;
    }

    private String lines() {
        if (weightPairs.isPresent()) {
            WeightPairs pairs = weightPairs.get();
            if (core == Core.RV32) {
                return PairSumsRiscV.lines(pairs);
            }
            return pairs.areLong() ? PairSumsThumb2.lines(pairs) : WordPairSumsThumb2.lines(pairs);
        }
        int bytes = values.bytes();
        return switch (core) {
            case ARMV7_M ->
                interleaved
                        ? new InterleavedSumsThumb2(pixels, channels, bytes).lines()
                        : new SumsThumb2(pixels, channels).lines();
            case ARMV6_M -> new SumsThumb1(channels, bytes).lines();
            case RV32 -> new SumsRiscV(pixels, channels, interleaved, bytes).lines();
        };
    }
}
