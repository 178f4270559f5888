// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.lower.ProvenRescale;
import io.kiln.lower.StepwiseRescale;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.FoldedSums;
import io.kiln.schedule.parts.AsmText;
import io.kiln.schedule.parts.RescaleCorrection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The conversion of sums to int8 in the kernels of {@link DspDepthwise}. Multiplier and offset of a channel stay in r10 and r11, its other
 * constants on the stack.
 *
 * @param rescale constants; in the reference's own steps their scale is that of the inputs
 */
record DspDepthwiseEpilogue(DspRescale rescale) {
    /** Largest number of constants on the stack. */
    private static final int MOST_KEPT = 2;

    private static final int INPUT_SCALE_BITS = DspDepthwise.INPUT_SCALE_BITS;

    /** The conversion for a layer; empty if ranges do not allow it. */
    static Optional<DspDepthwiseEpilogue> of(ConvComputation conv) {
        Optional<DspDepthwiseEpilogue> proven = DspRescale.of(conv, false)
                .filter(r -> r.constants() instanceof ProvenRescale p && suits(p))
                .map(DspDepthwiseEpilogue::new);
        return proven.or(() -> FoldedSums.of(conv)
                .flatMap(sums -> StepwiseRescale.of(sums.reference(), sums.bounds())
                        .flatMap(r -> r.scaled(INPUT_SCALE_BITS, sums.bounds()))
                        .map(r -> new DspDepthwiseEpilogue(new DspRescale(r, false, 0, sums.low(), sums.high())))));
    }

    private static boolean suits(ProvenRescale r) {
        return r.scaleBits() >= INPUT_SCALE_BITS
                && r.scaleBits() <= 2 * INPUT_SCALE_BITS
                && r.corrections() <= MOST_KEPT
                && isImmediate(r.lateOffset());
    }

    /** Whether it fits an immediate of ADD: eight bits anywhere in a word. */
    private static boolean isImmediate(int value) {
        int magnitude = Math.abs(value);
        return magnitude >>> Integer.numberOfTrailingZeros(magnitude | (1 << 31)) <= 0xFF;
    }

    private Optional<StepwiseRescale> stepwise() {
        return rescale.constants() instanceof StepwiseRescale r ? Optional.of(r) : Optional.empty();
    }

    private ProvenRescale proven() {
        return (ProvenRescale) rescale.constants();
    }

    /** Powers of two by which weights are scaled. */
    int weightBits() {
        return stepwise().isPresent() ? 0 : proven().scaleBits() - INPUT_SCALE_BITS;
    }

    /** Number of a channel's constants on the stack. */
    int kept() {
        return rescale.constantsPerChannel() - 2;
    }

    /** Whether sums start with the first constant on the stack rather than with 0. */
    boolean hasBias() {
        return stepwise().isPresent();
    }

    /** Part of a kernel's name. */
    String suffix() {
        String limits = rescale.isLimited() ? "_limit_" + (rescale.low() + 128) + "_" + (rescale.high() + 128) : "";
        return stepwise()
                .map(r -> (r.signStep() == 0 ? "_steps" : "_signed" + r.signStep())
                        + r.commonShift().map(s -> "_shift" + s).orElse("")
                        + limits)
                .orElseGet(() -> provenSuffix() + limits);
    }

    private String provenSuffix() {
        ProvenRescale r = proven();
        RescaleCorrection correction = RescaleCorrection.of(r);
        String late = correction.isSigned()
                ? "_late" + (r.lateOffset() < 0 ? "m" : "") + Math.abs(r.lateOffset())
                : correction.suffix();
        return "_scale" + r.scaleBits() + "_shift" + r.shift() + late;
    }

    /** The description of a channel's constants in a comment. */
    String constantsInWords() {
        return stepwise()
                .map(r -> "multiplier, offset, bias" + (r.commonShift().isEmpty() ? ", shift" : ""))
                .orElseGet(() -> "multiplier, offset"
                        + (proven().hasCorrections()
                                ? ", " + RescaleCorrection.of(proven()).text()
                                : ""));
    }

    /**
     * Rescales, limits and stores the sums.
     *
     * @param kept offset of the constants from the stack pointer
     * @param places address of each result
     */
    void store(AsmText asm, List<String> sums, int kept, List<String> places) {
        if (stepwise().isPresent()) {
            rescale(asm, stepwise().orElseThrow(), sums, kept);
        } else {
            rescale(asm, proven(), sums, kept);
        }
        new DspEpilogue.Range(false, 0, rescale.low(), rescale.high()).limit(asm, sums);
        DspEpilogue.put(asm, sums, places);
    }

    private static void rescale(AsmText asm, StepwiseRescale r, List<String> sums, int kept) {
        for (String s : sums) {
            if (r.signStep() == 0) {
                asm.line("smmla %s, %s, r10, r11", s, s);
            } else {
                asm.line("asr lr, %s, #31", s);
                asm.line("add lr, r11, lr, lsl #%d", Integer.numberOfTrailingZeros(r.signStep()));
                asm.line("smmla %s, %s, r10, lr", s, s);
            }
        }
        if (r.commonShift().isEmpty()) {
            asm.line("ldr r12, [sp, #%d]", kept + 4);
            sums.forEach(s -> asm.line("asr %s, %s, r12", s, s));
        }
        String shift = r.commonShift().map(s -> ", asr #" + s).orElse("");
        sums.forEach(s -> asm.line("ssat %s, #8, %s%s", s, s, shift));
    }

    private static void rescale(AsmText asm, ProvenRescale r, List<String> sums, int kept) {
        sums.forEach(s -> asm.line("smmla %s, %s, r10, r11", s, s));
        RescaleCorrection correction = RescaleCorrection.of(r);
        for (int i = 0; i < correction.count(); i++) {
            asm.line("ldr r12, [sp, #%d]", kept + 4 * i);
            if (!correction.isSigned()) {
                correction.apply(asm, sums, "r12", "lr");
                continue;
            }
            for (String s : sums) {
                asm.line("and lr, r12, %s, asr #31", s);
                asm.line("sub %s, lr", s);
                asm.line("%s %s, #%d", r.lateOffset() < 0 ? "sub" : "add", s, Math.abs(r.lateOffset()));
            }
        }
        sums.forEach(s -> asm.line("ssat %s, #8, %s, asr #%d", s, s, r.shift()));
    }

    /**
     * C statements that declare {@code value} from {@code sum}; not yet limited.
     *
     * @param at position of the constants in {@code table}
     */
    String twin(int at) {
        if (stepwise().isPresent()) {
            StepwiseRescale r = stepwise().orElseThrow();
            String sign = r.signStep() == 0 ? "" : " - (scaled < 0 ? " + r.signStep() + " : 0)";
            return String.format(Locale.ROOT, "const int32_t scaled = sum + table[%d];\n", at + 2)
                    + String.format(
                            Locale.ROOT,
                            "int32_t value = table[%d] + (int32_t)(((int64_t)scaled * table[%d]) >> 32)%s;\n",
                            at + 1,
                            at,
                            sign)
                    + String.format(
                            Locale.ROOT,
                            "value >>= %s;\n",
                            r.commonShift().map(s -> "" + s).orElse("table[" + (at + 3) + "]"));
        }
        RescaleCorrection corrected = RescaleCorrection.of(proven());
        return String.format(
                        Locale.ROOT,
                        "int32_t value = table[%d] + (int32_t)(((int64_t)sum * table[%d]) >> 32);\n",
                        at + 1,
                        at)
                + corrected.twin("value", i -> "table[" + (at + 2 + i) + "]", "" + corrected.argument())
                + String.format(Locale.ROOT, "value >>= %d;\n", proven().shift());
    }
}
