// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;

import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The micro-kernels of {@link DspWideConv}: dot products of one or two rows of int16 with four rows of weights. */
final class DspWideKernel {
    private static final int CHANNELS = 3;
    private static final int UNROLL = 8;

    private static final Intrinsic SMLAD =
            new Intrinsic("kiln_smlad", List.of(INT32, INT32, INT32), INT32, "", """
                /* sum + low(a) * low(b) + high(a) * high(b), of halves of 16 bits; no sum may overflow. */
                static inline int32_t kiln_smlad(int32_t a, int32_t b, int32_t sum) {
                #if defined(__ARM_FEATURE_DSP)
                  int32_t result;
                  __asm__ volatile("smlad %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
                  return result;
                #else
                  return sum + (int16_t)(a & 0xffff) * (int16_t)(b & 0xffff) + (a >> 16) * (b >> 16);
                #endif
                }
                """, List.of());

    private DspWideKernel() {}

    /** The kernel for so many pixels: pointers to each, to the weights, to the sums, then the number of pairs of taps. */
    static Kernel of(int pixels) {
        String name = "kiln_dot16_" + pixels + "x" + CHANNELS;
        List<Pointer> pointers = new ArrayList<>();
        IntStream.range(0, pixels).forEach(p -> pointers.add(Pointer.in(INT16)));
        pointers.add(Pointer.in(INT32));
        pointers.add(Pointer.out(INT32));
        return new Kernel(name, pointers, List.of(INT32), List.of(), definition(name, pixels), List.of(SMLAD));
    }

    private static String definition(String name, int pixels) {
        int sums = pixels * CHANNELS;
        return """
            /* Adds dot products of int16 with the weights of %d channels, two taps to a word, to the sums. */
            __attribute__((noinline))
            static void %s(%sconst int32_t* w, int32_t* sums, int32_t pairs) {
            %s  int32_t left = pairs;
              for (; left >= %d; left -= %d) {
            %s  }
              for (; left > 0; --left) {
            %s  }
            %s}
            """.formatted(
                        CHANNELS,
                        name,
                        each(pixels, "const int16_t* x%1$d, "),
                        each(sums, "  int32_t s%1$d = sums[%1$d];\n"),
                        UNROLL,
                        UNROLL,
                        steps(pixels, UNROLL),
                        steps(pixels, 1),
                        each(sums, "  sums[%1$d] = s%1$d;\n"));
    }

    /** Pairs of taps written out, so that loads have constant offsets. */
    private static String steps(int pixels, int count) {
        StringBuilder steps = new StringBuilder();
        for (int u = 0; u < count; u++) {
            for (int p = 0; p < pixels; p++) {
                steps.append("    int32_t v%d_%d;\n    __builtin_memcpy(&v%d_%d, x%d + %d, 4);\n"
                        .formatted(u, p, u, p, p, 2 * u));
            }
            for (int o = 0; o < CHANNELS; o++) {
                steps.append("    const int32_t w%d_%d = w[%d];\n".formatted(u, o, u * CHANNELS + o));
                for (int p = 0; p < pixels; p++) {
                    int s = p * CHANNELS + o;
                    steps.append("    s%d = kiln_smlad(v%d_%d, w%d_%d, s%d);\n".formatted(s, u, p, u, o, s));
                }
            }
        }
        steps.append(each(pixels, "    x%1$d += " + 2 * count + ";\n"));
        return steps.append("    w += ").append(CHANNELS * count).append(";\n").toString();
    }

    private static String each(int count, String text) {
        return IntStream.range(0, count).mapToObj(text::formatted).collect(Collectors.joining());
    }
}
