// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.base.DType;
import io.kiln.kernels.dense.Jteriscv_sumsGenerated;
import io.kiln.kernels.dense.Jteriscv_sums_pairsGenerated;
import io.kiln.kernels.dense.Jtethumb1_sumsGenerated;
import io.kiln.kernels.dense.Jtethumb2_sumsGenerated;
import io.kiln.kernels.dense.Jtethumb2_sums_interleavedGenerated;
import io.kiln.kernels.dense.Jtethumb2_sums_long_pairsGenerated;
import io.kiln.kernels.dense.Jtethumb2_sums_word_pairsGenerated;
import io.kiln.schedule.parts.InstructionSets;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The sums of a few pixels times a few channels, which {@link BlockedConvSchedule} rescales one by one. Pointers: inputs, weights
 * {@code [tap][channel]}, sums {@code [channel][pixel]}. Scalars: elements between pixels, taps.
 *
 * @param core for which it is written
 * @param pixels number of pixels
 * @param channels number of channels
 * @param interleaved whether instructions are interleaved so that few of them wait for the previous one
 * @param values type of the inputs: int8; also int16 of a single pixel
 * @param weightPairs pairs of weights in words, for one pixel and eight channels; not on Armv6-M
 */
public record SumsKernel(
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

    private static final int CHANNELS_OF_PAIRS = 8;

    /** Cores without SIMD. */
    public enum Core {
        /** A multiply-accumulate in one instruction, 13 registers: at most eight sums, of one or two pixels. */
        ARMV7_M(InstructionSets.THUMB_2),
        /** Eight registers that multiply: four sums of one pixel; weights are bytes without a sign, 128 more. */
        ARMV6_M(InstructionSets.THUMB_1),
        /** 28 registers: at most 16 sums, of one to four pixels. */
        RV32(InstructionSets.RV32_MUL);

        private final String condition;

        Core(String condition) {
            this.condition = condition;
        }

        /** Preprocessor condition under which its assembly can be used. */
        public String condition() {
            return condition;
        }
    }

    /** Whether weights in the table are 128 more. */
    boolean areWeightsMoved() {
        return core == Core.ARMV6_M;
    }

    /** C name. */
    public String name() {
        String suffix = areWeightsMoved() ? "_moved" : interleaved ? "_interleaved" : "";
        return String.format(Locale.ROOT, "kiln_sums_of_%dx%d%s%s", pixels, channels, suffix, isWide() ? "_int16" : "")
                + weightPairs.map(WeightPairs::suffix).orElse("");
    }

    private boolean isWide() {
        return values == DType.INT16;
    }

    Kernel kernel() {
        return Kernel.of(
                name(),
                List.of(Pointer.in(values), Pointer.in(weightPairs.isPresent() ? INT32 : INT8), Pointer.out(INT32)),
                2,
                sheet());
    }

    private KernelSheet.Template sheet() {
        if (weightPairs.isPresent()) {
            WeightPairs pairs = weightPairs.get();
            if (core == Core.RV32) {
                return (out, html) -> Jteriscv_sums_pairsGenerated.render(out, html, this, pairs);
            }
            return pairs.areLong()
                    ? (out, html) -> Jtethumb2_sums_long_pairsGenerated.render(out, html, this, pairs.bits())
                    : (out, html) -> Jtethumb2_sums_word_pairsGenerated.render(out, html, this, pairs);
        }
        return switch (core) {
            case ARMV7_M ->
                interleaved
                        ? (out, html) -> Jtethumb2_sums_interleavedGenerated.render(out, html, this)
                        : (out, html) -> Jtethumb2_sumsGenerated.render(out, html, this);
            case ARMV6_M -> (out, html) -> Jtethumb1_sumsGenerated.render(out, html, this);
            case RV32 -> (out, html) -> Jteriscv_sumsGenerated.render(out, html, this);
        };
    }

    /** C's parameters. */
    public List<String> parameters() {
        return List.of(
                "const " + (isWide() ? "int16_t" : "int8_t") + "* x",
                "const " + (weightPairs.isPresent() ? "int32_t" : "int8_t") + "* w",
                "int32_t* sums",
                "int32_t stride",
                "int32_t taps");
    }

    /** C's expression for a weight. */
    public String weight() {
        if (weightPairs.isPresent()) {
            return weightPairs.get().unpacked("c % 2 == 0", "w[" + channels / 2 + " * i + c / 2]");
        }
        String weight = "w[" + channels + " * i + c]";
        return areWeightsMoved() ? "((uint8_t)" + weight + " - 128)" : weight;
    }
}
