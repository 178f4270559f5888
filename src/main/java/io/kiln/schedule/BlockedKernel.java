// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.base.DType;
import io.kiln.lower.Intrinsics;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.ArrayList;
import java.util.List;

/**
 * The micro-kernel of {@link BlockedConv}: all output channels of a block of pixels, block of channels by block of channels, rescaled and
 * stored. Pointers: inputs, weights {@code [block][tap][channel]} with the last block filled up, constants of the rescaling, output.
 * Scalars: taps, channels, elements between pixels in the input and in the output, power of two that scales sums, shift; then the late
 * offset where negatives are corrected, and limits where they are narrower than int8.
 *
 * @param sums the inner loop
 * @param rescale the rescaling
 */
record BlockedKernel(BlockedSums sums, ScalarRescale rescale) {
    private static final String SUFFIX_SIGNED = "_signed";
    private static final String SUFFIX_LIMITED = "_limited";

    Kernel kernel() {
        List<DType> scalars = new ArrayList<>(List.of(INT32, INT32));
        if (!sums.pairsInputs()) {
            scalars.add(INT32);
        }
        scalars.addAll(List.of(INT32, INT32, INT32));
        if (rescale.isSigned()) {
            scalars.add(INT32);
        }
        if (rescale.isLimited()) {
            scalars.addAll(List.of(INT32, INT32));
        }
        return new Kernel(
                name(),
                List.of(
                        Pointer.in(sums.pairsInputs() ? INT32 : INT8),
                        Pointer.in(INT8),
                        Pointer.in(INT32),
                        Pointer.out(INT8)),
                scalars,
                List.of(),
                definition(),
                List.of(
                        sums.intrinsic(),
                        Intrinsics.HIGH_WORD,
                        rescale.isLimited() ? Intrinsics.CLAMP : Intrinsics.SATURATE_8));
    }

    private String name() {
        return "kiln_blocked_" + sums.name().substring("kiln_sums_".length())
                + (rescale.isSigned() ? SUFFIX_SIGNED : "")
                + (rescale.isLimited() ? SUFFIX_LIMITED : "");
    }

    private String definition() {
        int c = sums.channels();
        int p = sums.pixels();
        return """
                /* All channels of %d pixels: sums of %d channels at a time, rescaled. */
                __attribute__((noinline))
                static void %s(
                    const %s* x, const int8_t* w, const int32_t* rescale, int8_t* out, int32_t taps, int32_t channels, %sint32_t out_stride,
                    int32_t scale, int32_t shift%s%s) {
                  for (int32_t first = 0; first < channels; first += %d) {
                    int32_t sums[%d];
                    %s(x, %sw, taps, sums);
                    w += %d * taps;
                    const int32_t last = channels - first < %d ? channels - first : %d;
                    const int32_t* sum = sums;
                    for (int32_t channel = 0; channel < last; ++channel) {
                      const int32_t multiplier = rescale[0];
                      const int32_t offset = rescale[1];
                %s      rescale += %d;
                %s      sum += %d;
                      ++out;
                    }
                  }
                }
                """.formatted(
                        p,
                        c,
                        name(),
                        sums.pairsInputs() ? "int32_t" : "int8_t",
                        sums.pairsInputs() ? "" : "int32_t stride, ",
                        rescale.isSigned() ? ", int32_t late" : "",
                        rescale.isLimited() ? ", int32_t low, int32_t high" : "",
                        c,
                        p * c,
                        sums.name(),
                        sums.pairsInputs() ? "" : "stride, ",
                        c,
                        c,
                        c,
                        rescale.isSigned() ? "      const int32_t negative = rescale[2];\n" : "",
                        rescale.isSigned() ? 3 : 2,
                        results(p),
                        p);
    }

    /** The lines that finish the pixels of one channel. */
    private String results(int pixels) {
        StringBuilder text = new StringBuilder();
        for (int p = 0; p < pixels; p++) {
            text.append("      %sint32_t value%s = kiln_high_word(sum[%d] * scale, multiplier) + offset;\n"
                    .formatted(rescale.isSigned() ? "" : "const ", p, p));
            if (rescale.isSigned()) {
                text.append("      value%s += late - ((value%s >> 31) & negative);\n".formatted(p, p));
            }
            String place = p == 0 ? "0" : p == 1 ? "out_stride" : p + " * out_stride";
            String shifted = "value" + p + " >> shift";
            text.append("      out[%s] = (int8_t)%s;\n"
                    .formatted(
                            place,
                            rescale.isLimited()
                                    ? "kiln_clamp(" + shifted + ", low, high)"
                                    : "kiln_saturate_8(" + shifted + ")"));
        }
        return text.toString();
    }
}
