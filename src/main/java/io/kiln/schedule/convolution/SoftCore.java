// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.InstructionSets;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import java.util.Locale;
import java.util.Optional;

/**
 * Cores without a floating-point unit, and how each multiplies integers. A weight W has {@link #weightBits} and an input X {@link #inputBits} bits
 * at most, and a sum of products is kept in units of {@code 2^unit}.
 */
public enum SoftCore {
    /** {@code SMLAL}: exact sums of 64 bits, for which inputs have as many bits as the sums of the weights leave. */
    ARMV7_M(29, 30, 0, 32, 4),
    /** Products of halves of 15 bits: sums of those of the upper halves, and of the mixed ones without their last bits. */
    ARMV6_M(28, 29, 30, 16, 2),
    /** {@code mulh}: sums of the upper words of the products, eight in a word. */
    RV32(30, 30, 32, 16, 4);

    /** Taps whose sums fit 32 bits on Armv6-M. */
    public static final int THUMB1_TAPS = 8;

    /** Taps whose sums fit 32 bits on RV32. */
    public static final int RISCV_TAPS = 8;

    /** Bits that sums of 64 bits may use. */
    private static final int MOST_SUM_BITS = 63;

    private static final int LEAST_INPUT_BITS = 24;

    private final int weightBits;
    private final int inputBits;
    private final int unit;
    private final int dropped;
    private final int channels;

    SoftCore(int weightBits, int inputBits, int unit, int dropped, int channels) {
        this.weightBits = weightBits;
        this.inputBits = inputBits;
        this.unit = unit;
        this.dropped = dropped;
        this.channels = channels;
    }

    /** The core, if a layer's data and weights are float and it has no unit for them. */
    public static Optional<SoftCore> of(Workload workload) {
        ConvComputation conv = workload.conv();
        CpuFeatures features = workload.features();
        if (!conv.isFloat()
                || !conv.weight().type().dtype().isFloat()
                || conv.isTransposed()
                || features.hasFpu()
                || features.bits() != Integer.SIZE) {
            return Optional.empty();
        }
        return switch (features.family()) {
            case CORTEX_M -> Optional.of(features.hasLongMultiply() ? ARMV7_M : ARMV6_M);
            case RISCV -> features.hasLongMultiply() ? Optional.of(RV32) : Optional.empty();
            default -> Optional.empty();
        };
    }

    /** Preprocessor condition of its instructions. */
    public String condition() {
        return switch (this) {
            case ARMV7_M -> InstructionSets.THUMB_2;
            case ARMV6_M -> InstructionSets.THUMB_1;
            case RV32 -> InstructionSets.RV32_MUL;
        };
    }

    /**
     * Bits of the largest weight.
     *
     * @param taps of a window: where sums of more than a thousand exact products need it, weights have fewer, so that inputs keep all bits of a float
     */
    int weightBits(int taps) {
        int tapBits = Integer.SIZE - Integer.numberOfLeadingZeros(taps);
        return this == ARMV7_M ? Math.min(weightBits, MOST_SUM_BITS - LEAST_INPUT_BITS - tapBits) : weightBits;
    }

    /**
     * Bits of the largest input.
     *
     * @param magnitude largest sum of the weights of a channel
     */
    int inputBits(long magnitude) {
        return this == ARMV7_M
                ? Math.min(inputBits, MOST_SUM_BITS - (Long.SIZE - Long.numberOfLeadingZeros(magnitude)))
                : inputBits;
    }

    /** Power of two of the unit of a sum of products. */
    public int unit() {
        return unit;
    }

    /** Lower bits of a sum that are not compared with the least magnitude that is precise enough. */
    public int dropped() {
        return dropped;
    }

    /** Most channels computed together for speed. */
    int channels() {
        return channels;
    }

    /** Most channels that fit the registers. */
    int mostChannels() {
        return this == ARMV6_M ? channels + 1 : channels;
    }

    /** Number of taps to a multiple of which runs are padded with 0, at least. */
    int step() {
        return switch (this) {
            case ARMV7_M -> 1;
            case ARMV6_M -> THUMB1_TAPS;
            case RV32 -> RISCV_TAPS;
        };
    }

    /** C expression of the expected error of a sum of products, where count is the number of inputs that are not 0. */
    public String centre() {
        return switch (this) {
            case ARMV7_M -> "0";
            case ARMV6_M -> "count * 5 / 16";
            case RV32 -> "count / 2";
        };
    }

    /** The exponent of a sum of products with exponents of their own, less those of its inputs and weights. */
    public int place() {
        return this == ARMV6_M ? 157 : 156;
    }

    /**
     * C expression of the upper word of a product.
     *
     * @param weight C expression of a weight; the input's 24 bits are {@code significand}
     */
    public String product(String weight) {
        return this == ARMV6_M
                ? String.format(
                        Locale.ROOT,
                        "(%1$s >> 16) * (int32_t)(significand >> 8) + ((%1$s >> 16) * (int32_t)(significand & 255u) >> 8)"
                                + " + (int32_t)((uint32_t)(%1$s & 0xffff) * (significand >> 8) >> 16)",
                        weight)
                : String.format(Locale.ROOT, "(int32_t)((int64_t)%s * (int32_t)(significand << 7) >> 32)", weight);
    }

    /** Largest error of a sum of products, in its units, beside those of the inputs and weights. */
    double error(int padded) {
        return switch (this) {
            case ARMV7_M -> 0;
            case ARMV6_M -> padded * (1 + 1.0 / THUMB1_TAPS + 0x1p-10);
            case RV32 -> padded;
        };
    }
}
