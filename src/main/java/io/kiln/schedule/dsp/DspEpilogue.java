// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.lower.ProvenRescale;
import io.kiln.lower.StepwiseRescale;
import io.kiln.schedule.parts.AsmText;
import io.kiln.schedule.parts.RescaleCorrection;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The conversion of sums to int8 in a kernel: the constants of a channel, which r1 points to, and a few instructions per value. */
public sealed interface DspEpilogue permits DspProvenEpilogue, DspStepwiseEpilogue, DspFloorEpilogue {
    /**
     * The steps of kernels before and after any rescaling of sums.
     *
     * @param isSummed whether weights are packed as sums, otherwise as bytes or alone
     * @param freeBits powers of two by which the first channel's sums are already scaled
     * @param low lower limit
     * @param high upper limit
     */
    record Range(boolean isSummed, int freeBits, int low, int high) {
        /**
         * Powers of two by which sums are already scaled.
         *
         * @param isSecond whether they are those of the second of two channels
         */
        public int bits(boolean isSecond) {
            return isSecond ? 0 : freeBits;
        }

        /** Part of a kernel's name. */
        String prefix() {
            return isSummed ? "" : "_bytes";
        }

        /** Part of a kernel's name. */
        String suffix() {
            return low > -128 || high < 127 ? "_limit_" + (low + 128) + "_" + (high + 128) : "";
        }

        /** Limits values that are in the range of int8 already. */
        void limit(AsmText asm, List<String> values) {
            for (String value : values) {
                if (low > -128) {
                    asm.line("cmp %s, #%d", value, low);
                    asm.line("it lt");
                    asm.line("movlt %s, #%d", value, low);
                }
                if (high < 127) {
                    asm.line("cmp %s, #%d", value, high);
                    asm.line("it gt");
                    asm.line("movgt %s, #%d", value, high);
                }
            }
        }

        /** The same in C, from 32 bits. */
        String twin() {
            return String.format(
                    Locale.ROOT, "value = value < %d ? %d : (value > %d ? %d : value);\n", low, low, high, high);
        }
    }

    /**
     * The sums of one channel.
     *
     * @param registers at most two, of {@code 256 * A + B} if {@code others} are given and weights are packed as sums; of
     *     {@code 256 * A} or, as bytes, of {@code A} if the channel is alone; else of {@code B}
     * @param others registers of {@code B}; may be empty
     * @param isSecond whether the sums are {@code B}
     */
    record Sums(List<String> registers, List<String> others, boolean isSecond) {
        /** Makes all of them sums of a single channel. */
        void separate(AsmText asm, Range range) {
            for (int i = 0; i < others.size() && range.isSummed; i++) {
                asm.line("sub %s, %s, %s", registers.get(i), registers.get(i), others.get(i));
            }
        }

        /** Powers of two by which they are scaled. */
        int bits(Range range) {
            return isSecond ? 0 : range.freeBits;
        }
    }

    static DspEpilogue of(DspRescale rescale) {
        Range range = new Range(rescale.isSummed(), rescale.freeBits(), rescale.low(), rescale.high());
        if (rescale.constants() instanceof ProvenRescale r) {
            return new DspProvenEpilogue(range, r.scaleBits(), r.shift(), RescaleCorrection.of(r));
        }
        if (rescale.constants() instanceof StepwiseRescale r) {
            return new DspStepwiseEpilogue(range, r.left(), r.isRounded(), r.signStep() != 0, r.commonShift());
        }
        return new DspFloorEpilogue(range);
    }

    /** See {@link Range}. */
    Range range();

    /** Part of a kernel's name. */
    String suffix();

    /** The description of a channel's constants in a comment. */
    String constantsInWords();

    /** Words of a channel's constants. */
    int constants();

    /**
     * Rescales and limits the sums of one channel; uses r10, r11 and r12.
     *
     * @param late address of the parameter
     */
    void rescale(AsmText asm, Sums sums, String late);

    /**
     * Rescales and limits the sums of two channels; uses lr too.
     *
     * @param late address of the parameter
     */
    default void rescaleTwo(AsmText asm, Sums first, Sums second, String late) {
        rescale(asm, first, late);
        rescale(asm, second, late);
    }

    /** C statements that declare {@code value} from a sum, with {@code w} at the channel's constants; not yet limited. */
    String value(String sum);

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
        return new Kernel(
                name,
                List.of(Pointer.in(INT8), Pointer.in(INT32), Pointer.out(INT8)),
                Collections.nCopies(1 + parameters().size() + further, INT32),
                List.of(),
                definition,
                List.of());
    }

    /** The same in C: from a sum, with {@code w} at the channel's constants, declares {@code value}. */
    default String twin(String indent, String sum) {
        return (value(sum) + range().twin()).indent(indent.length());
    }

    /** What the halfwords of two channels' weights are, in words. */
    default String halfwords() {
        return range().isSummed() ? "256 * first + second" : "first and second as bytes";
    }

    /** C's expression for the first channel's weight. */
    default String firstWeight() {
        return range().isSummed() ? "(both - second) / 256" : "(int8_t)(both >> 8)";
    }

    /** Stores values. */
    static void put(AsmText asm, List<String> values, List<String> places) {
        for (int i = 0; i < values.size(); i++) {
            asm.line("strb %s, %s", values.get(i), places.get(i));
        }
    }

    /** Sets the parameters of a kernel's text for its head: a channel's constants, and the last arguments. */
    default KernelText head(KernelText text) {
        String declarations =
                String.join("", parameters().stream().map(p -> ", int32_t " + p).toList());
        return text.with("CONSTANTS_IN_WORDS", constantsInWords())
                .with("BLOCKS_AND_LATE", "int32_t blocks" + declarations)
                .with("CONSTANTS", constants());
    }

    /** As {@link #head}, for kernels whose weights are halfwords of two channels. */
    default KernelText headOfPairs(KernelText text) {
        boolean isSummed = range().isSummed();
        return head(text)
                .with("HALFWORDS", isSummed ? "256 * first + second" : "first and second as bytes")
                .with("FIRST_WEIGHT", isSummed ? "(both - second) / 256" : "(int8_t)(both >> 8)");
    }
}
