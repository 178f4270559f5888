// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.tir.Kernel;
import java.util.List;

/** Kernels that bring the inputs of two pixels into scratch, widened and interleaved as {@link DspConvKernel} reads them. */
final class DspGather {
    /** {@code (to, a, b, count)}: a run of inputs of both pixels; zeros make the last four whole. */
    static final Kernel WIDEN_PAIR = new Kernel(
            "kiln_widen_pair",
            List.of(Kernel.Pointer.out(INT8), Kernel.Pointer.in(INT8), Kernel.Pointer.in(INT8)),
            List.of(INT32),
            List.of(),
            widenPair(),
            List.of());

    /** {@code (to, from, before, inside, after, fill)}: one pixel's run, in fours: padding, inputs, padding. */
    static final Kernel WIDEN_EDGE = new Kernel(
            "kiln_widen_edge",
            List.of(Kernel.Pointer.out(INT8), Kernel.Pointer.in(INT8)),
            List.of(INT32, INT32, INT32, INT32),
            List.of(),
            """
            /* Widens a run of one pixel to 16 bits, leaving room for the other pixel: padding, inputs, padding, counted in fours. */
            static void kiln_widen_edge(int8_t* to, const int8_t* from, int32_t before, int32_t inside, int32_t after, int32_t fill) {
              for (int32_t i = 0; i < 4 * (before + inside + after); ++i, to += i % 2 == 0 ? 6 : 2) {
                const int32_t quad = i / 4 - before;
                const int8_t value = quad < 0 || quad >= inside ? (int8_t)fill : from[4 * quad + i % 4 / 2 + i % 2 * 2];
                to[0] = value;
                to[1] = value < 0 ? -1 : 0;
              }
            }
            """,
            List.of());

    /** {@code (to, from, before, inside, after, fill)}: a run of bytes: padding, inputs, padding. */
    static final Kernel COPY_EDGE = new Kernel(
            "kiln_copy_edge",
            List.of(Kernel.Pointer.out(INT8), Kernel.Pointer.in(INT8)),
            List.of(INT32, INT32, INT32, INT32),
            List.of(),
            """
            /* Copies a run of inputs with padding before and after it. */
            static void kiln_copy_edge(int8_t* to, const int8_t* from, int32_t before, int32_t inside, int32_t after, int32_t fill) {
              for (int32_t i = 0; i < before + inside + after; ++i) {
                to[i] = i < before || i >= before + inside ? (int8_t)fill : from[i - before];
              }
            }
            """,
            List.of());

    private DspGather() {}

    private static String widenPair() {
        return """
                /* Widens a run of inputs of two pixels to 16 bits: of each four, 0 and 2 of pixel a, 0 and 2 of pixel b, 1 and 3 of a, 1 and
                   3 of b; zeros make the last four whole. */
                static void kiln_widen_pair(int8_t* to, const int8_t* a, const int8_t* b, int32_t count) {
                #if defined(__ARM_FEATURE_DSP)
                  int32_t left = count - 4;
                  uint32_t t0, t1, t2, t3;
                  __asm__ volatile(
                      "cmp %3, #0\\n"
                      "blt 2f\\n"
                      "1:\\n"
                      "ldr %6, [%1], #4\\n"
                      "ldr %7, [%2], #4\\n"
                      "sxtb16 %4, %6\\n"
                      "sxtb16 %5, %7\\n"
                      "strd %4, %5, [%0], #8\\n"
                      "sxtb16 %6, %6, ror #8\\n"
                      "sxtb16 %7, %7, ror #8\\n"
                      "strd %6, %7, [%0], #8\\n"
                      "subs %3, #4\\n"
                      "bge 1b\\n"
                      "2:\\n"
                      : "+r"(to), "+r"(a), "+r"(b), "+r"(left), "=&r"(t0), "=&r"(t1), "=&r"(t2), "=&r"(t3)
                      :
                      : "cc", "memory");
                  count = left + 4;
                #endif
                  for (int32_t i = 0; i < (count + 3) / 4 * 4; ++i) {
                    const int32_t place = 4 * (i - i % 4) + i % 2 * 8 + i % 4 / 2 * 2;
                    const int8_t of_a = i < count ? a[i] : 0;
                    const int8_t of_b = i < count ? b[i] : 0;
                    to[place] = of_a;
                    to[place + 1] = of_a < 0 ? -1 : 0;
                    to[place + 4] = of_b;
                    to[place + 5] = of_b < 0 ? -1 : 0;
                  }
                }
                """;
    }
}
