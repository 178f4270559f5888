// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.tir.Kernel;
import java.util.List;

/** Kernels that bring the inputs of two pixels into scratch, widened and interleaved as {@link DspConvKernel} reads them. */
final class DspGather {
    private static final List<Kernel.Pointer> PAIR =
            List.of(Kernel.Pointer.out(INT8), Kernel.Pointer.in(INT8), Kernel.Pointer.in(INT8));

    /** {@code (to, a, b, count)}: a run of inputs of both pixels, a multiple of four and not 0. */
    static final Kernel WIDEN_PAIR = new Kernel("kiln_widen_pair", PAIR, List.of(INT32), List.of(), """
            /* Widens a run of inputs of two pixels to 16 bits: of each four, 0 and 2 of a, 0 and 2 of b, 1 and 3 of a, 1 and 3 of b. */
            static void kiln_widen_pair(int8_t* to, const int8_t* a, const int8_t* b, int32_t count) {
            #if defined(__ARM_FEATURE_DSP)
              uint32_t t0, t1, t2, t3;
              __asm__ volatile(
                  "1:\\n"
                  "ldr %6, [%1], #4\\n"
                  "ldr %7, [%2], #4\\n"
                  "sxtb16 %4, %6\\n"
                  "sxtb16 %5, %7\\n"
                  "strd %4, %5, [%0], #8\\n"
                  "sxtb16 %6, %6, ror #8\\n"
                  "sxtb16 %7, %7, ror #8\\n"
                  "strd %6, %7, [%0], #8\\n"
                  "subs %3, %3, #4\\n"
                  "bne 1b\\n"
                  : "+r"(to), "+r"(a), "+r"(b), "+r"(count), "=&r"(t0), "=&r"(t1), "=&r"(t2), "=&r"(t3)
                  :
                  : "cc", "memory");
            #else
              for (int32_t i = 0; i < count; ++i) {
                int8_t* const place = to + (i / 4 * 16 + i % 2 * 8 + i % 4 / 2 * 2);
                place[0] = a[i];
                place[1] = a[i] < 0 ? -1 : 0;
                place[4] = b[i];
                place[5] = b[i] < 0 ? -1 : 0;
              }
            #endif
            }
            """, List.of());

    /** {@code (to, a, b, count)}: the last one to three inputs of both pixels. */
    static final Kernel WIDEN_REST = new Kernel("kiln_widen_rest", PAIR, List.of(INT32), List.of(), """
            /* Widens the last one to three inputs of two pixels as kiln_widen_pair does, with zeros for what is missing of four. */
            static void kiln_widen_rest(int8_t* to, const int8_t* a, const int8_t* b, int32_t count) {
              for (int32_t i = 0; i < 4; ++i) {
                const int8_t of_a = i < count ? a[i] : 0;
                const int8_t of_b = i < count ? b[i] : 0;
                int8_t* const place = to + (i % 2 * 8 + i / 2 * 2);
                place[0] = of_a;
                place[1] = of_a < 0 ? -1 : 0;
                place[4] = of_b;
                place[5] = of_b < 0 ? -1 : 0;
              }
            }
            """, List.of());

    /** {@code (to, from, before, inside, after, fill)}: one pixel's run, in fours: padding, inputs, padding. */
    static final Kernel WIDEN_EDGE = new Kernel(
            "kiln_widen_edge",
            List.of(Kernel.Pointer.out(INT8), Kernel.Pointer.in(INT8)),
            List.of(INT32, INT32, INT32, INT32),
            List.of(),
            """
            /* Widens a run of one pixel to 16 bits, leaving room for the other pixel: padding, inputs, padding, counted in fours. */
            static void kiln_widen_edge(int8_t* to, const int8_t* from, int32_t before, int32_t inside, int32_t after, int32_t fill) {
            #if defined(__ARM_FEATURE_DSP)
              const uint32_t both = (uint32_t)(fill & 0xFFFF) * 0x10001u;
              uint32_t t0, t1;
              __asm__ volatile(
                  "1:\\n"
                  "subs %2, %2, #1\\n"
                  "blt 2f\\n"
                  "str %7, [%0], #8\\n"
                  "str %7, [%0], #8\\n"
                  "b 1b\\n"
                  "2:\\n"
                  "subs %3, %3, #1\\n"
                  "blt 3f\\n"
                  "ldr %5, [%1], #4\\n"
                  "sxtb16 %6, %5\\n"
                  "str %6, [%0], #8\\n"
                  "sxtb16 %5, %5, ror #8\\n"
                  "str %5, [%0], #8\\n"
                  "b 2b\\n"
                  "3:\\n"
                  "subs %4, %4, #1\\n"
                  "blt 4f\\n"
                  "str %7, [%0], #8\\n"
                  "str %7, [%0], #8\\n"
                  "b 3b\\n"
                  "4:\\n"
                  : "+r"(to), "+r"(from), "+r"(before), "+r"(inside), "+r"(after), "=&r"(t0), "=&r"(t1)
                  : "r"(both)
                  : "cc", "memory");
            #else
              for (int32_t i = 0; i < 4 * (before + inside + after); ++i) {
                const int32_t at = i - 4 * before;
                const int8_t value = at < 0 || at >= 4 * inside ? (int8_t)fill : from[at];
                int8_t* const place = to + (i / 4 * 16 + i % 2 * 8 + i % 4 / 2 * 2);
                place[0] = value;
                place[1] = value < 0 ? -1 : 0;
              }
            #endif
            }
            """,
            List.of());

    private DspGather() {}
}
