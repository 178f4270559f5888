// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.lower.ProvenRequantize;
import io.kiln.lower.StepwiseRequantize;
import io.kiln.schedule.parts.RequantizeCorrection;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * How a kernel requantizes sums to int8: by the constants of a channel, which r1 points to, in a few instructions per value. The instructions and
 * their C twin are in {@code kernels/requantize/dsp.jte} and {@code dsp_twin.jte}.
 */
public sealed interface DspEpilogue {
    /**
     * The steps of kernels before and after any rescaling of sums.
     *
     * @param isSummed whether weights are packed as sums, otherwise as bytes or alone
     * @param freeBits powers of two by which the first channel's sums are already scaled
     * @param low lower limit
     * @param high upper limit
     */
    record Range(boolean isSummed, int freeBits, int low, int high) {
        /** Part of a kernel's name. */
        String prefix() {
            return isSummed ? "" : "_bytes";
        }

        /** Part of a kernel's name. */
        String suffix() {
            return low > -128 || high < 127 ? "_limit_" + (low + 128) + "_" + (high + 128) : "";
        }
    }

    /** The epilogue of a rescaling. */
    static DspEpilogue of(DspRequantize rescale) {
        Range range = new Range(rescale.isSummed(), rescale.freeBits(), rescale.low(), rescale.high());
        if (rescale.constants() instanceof ProvenRequantize r) {
            return new Proven(
                    range,
                    r.scaleBits(),
                    r.shift(),
                    RequantizeCorrection.of(r),
                    rescale.isStarted() ? r.constants(0) : List.of());
        }
        if (rescale.constants() instanceof StepwiseRequantize r) {
            return new Stepwise(range, r.left(), r.isRounded(), r.signStep() != 0, r.commonShift());
        }
        return new Floor(range);
    }

    /** See {@link Range}. */
    Range range();

    /** Part of a kernel's name. */
    String suffix();

    /** The description of a channel's constants in a comment. */
    String constantsInWords();

    /** Words of a channel's constants. */
    int constants();

    /** Whether sums start at the biases, and the constants are parameters. */
    default boolean isStarted() {
        return false;
    }

    /** Names of its scalar parameters in a kernel. */
    default List<String> parameters() {
        return List.of();
    }

    /** Their values. */
    default List<Expr> arguments() {
        return List.of();
    }

    /** The parameters in C of a kernel of blocks: input, weights, output, number of blocks, and those of the epilogue. */
    default List<String> kernelParameters() {
        return Stream.concat(
                        Stream.of("const int8_t* x", "const int32_t* w", "int8_t* out", "int32_t blocks"),
                        parameters().stream().map(p -> "int32_t " + p))
                .toList();
    }

    /**
     * A kernel of blocks.
     *
     * @param further the number of scalar parameters behind {@link #kernelParameters}
     */
    default Kernel kernel(String name, int further, String definition) {
        return Kernel.of(
                name, Pointer.lastWritten(INT8, INT32, INT8), 1 + parameters().size() + further, definition);
    }

    /** What the halfwords of two channels' weights are, in words. */
    default String halfwords() {
        return range().isSummed() ? "256 * first + second" : "first and second as bytes";
    }

    /** C's expression for the first channel's weight. */
    default String firstWeight() {
        return range().isSummed() ? "(both - second) / 256" : "(int8_t)(both >> 8)";
    }

    /**
     * By {@link ProvenRequantize}: about four instructions per value, with one shift for all channels as an immediate.
     *
     * @param range what does not depend on the rescaling
     * @param scaleBits powers of two by which sums are scaled before the high multiply
     * @param shift bits to the right after it
     * @param correction of values; if of negative ones, the zero point is added after that
     * @param common multiplier, offset and correction of all channels, which are then parameters, and the biases are where sums start; otherwise
     *     empty: each channel has its own
     */
    record Proven(Range range, int scaleBits, int shift, RequantizeCorrection correction, List<Integer> common)
            implements DspEpilogue {
        public Proven {
            common = List.copyOf(common);
        }

        @Override
        public List<String> parameters() {
            return Stream.concat(
                            Stream.of("multiplier", "offset", "negative").limit(common.size()),
                            Stream.of("late").filter(late -> isSigned()))
                    .toList();
        }

        @Override
        public List<Expr> arguments() {
            return Stream.concat(
                            common.stream(), Stream.of(correction.lateOffset()).filter(late -> isSigned()))
                    .<Expr>map(Exprs::imm)
                    .toList();
        }

        @Override
        public String suffix() {
            return range.prefix()
                    + "_scale" + scaleBits + "_shift" + shift
                    + (isStarted() ? "_started" : "")
                    + (isSigned() ? "_signed" : correction.suffix())
                    + range.suffix();
        }

        @Override
        public boolean isStarted() {
            return !common.isEmpty();
        }

        /** Whether negative values are corrected. */
        public boolean isSigned() {
            return correction.isSigned();
        }

        @Override
        public String constantsInWords() {
            return "a multiplier and an offset" + (correction.count() == 0 ? "" : " and " + correction.text());
        }

        @Override
        public int constants() {
            return isStarted() ? 0 : correction.constants();
        }
    }

    /**
     * By {@link StepwiseRequantize}: about seven instructions per value.
     *
     * @param range what does not depend on the rescaling
     * @param left bits by which sums are scaled
     * @param isRounded whether the high word is rounded
     * @param isSigned whether negative values are corrected
     * @param shift bits to the right, if all channels have the same
     */
    record Stepwise(Range range, int left, boolean isRounded, boolean isSigned, Optional<Integer> shift)
            implements DspEpilogue {
        @Override
        public String suffix() {
            return range.prefix()
                    + (isRounded ? "_twice" : "_once")
                    + left
                    + (isSigned ? "_signed" : "")
                    + shift.map(s -> "_shift" + s).orElse("")
                    + range.suffix();
        }

        @Override
        public String constantsInWords() {
            return shift.isPresent()
                    ? "a multiplier, an offset and a bias"
                    : "a multiplier, an offset, a bias and a shift";
        }

        @Override
        public int constants() {
            return shift.isPresent() ? 3 : 4;
        }
    }

    /**
     * By {@link io.kiln.lower.FloorRequantize}, whose offsets have 64 bits: about eight instructions per value.
     *
     * @param range what does not depend on the rescaling
     */
    record Floor(Range range) implements DspEpilogue {
        @Override
        public String suffix() {
            return range.prefix() + "_floor" + range.suffix();
        }

        @Override
        public String constantsInWords() {
            return "a multiplier, both words of an offset and a shift";
        }

        @Override
        public int constants() {
            return 4;
        }
    }
}
