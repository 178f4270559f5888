// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Inner loops of {@link BlockedConv} in inline assembly, each with a portable twin. */
final class LoopSums {
    private LoopSums() {}

    /** A method and no constant, because what reads the mojos' descriptions takes no quotes in a constant's text block. */
    private static String pairEnd() {
        return """
                  "subs r2, r0\\n"
                  "asrs r2, #4\\n"
                  "subs r4, r1\\n"
                  "asrs r4, #4\\n"
            """;
    }

    /**
     * Armv7-M in little flash: for all layers, and for cores that have SIMD too. A step is 14 instructions for 8 products: 6 LDRSB, 8 MLA.
     *
     * <pre>
     * r0 r1    inputs of both pixels          r4 to r7   sums of channel 0, both pixels, and channel 1
     * r2       weights                        r8 to r11  sums of channels 2 and 3
     * r3 r12   the inputs of a step           lr         a weight
     * stack    sums, end, r7 and r11, which may be frame pointers
     * </pre>
     *
     * <p>Of pairs of weights 2 LDRSB are 2 SBFX.
     */
    static BlockedSums thumb2(boolean packed) {
        StringBuilder step = new StringBuilder();
        line(step, "ldrsb r3, [r0], #1");
        line(step, "ldrsb r12, [r1], #1");
        StringBuilder end = new StringBuilder();
        for (int i = 0; i < 4; i++) {
            int c = packed ? i ^ 1 : i;
            line(step, packed && i % 2 != 0 ? "sbfx lr, lr, #0, #4" : "ldrsb lr, [r2], #1");
            line(step, "mla r%d, r3, lr, r%d", 4 + 2 * c, 4 + 2 * c);
            line(step, "mla r%d, r12, lr, r%d", 5 + 2 * c, 5 + 2 * c);
        }
        for (int r = 6; packed && r <= 11; r += r == 7 ? 3 : 1) {
            line(end, "sub r%d, r%d, r%d", r, r, r - 2);
            line(end, "asr r%d, r%d, #4", r, r);
        }
        StringBuilder zero = new StringBuilder();
        for (int r = 4; r <= 11; r++) {
            line(zero, "mov r%d, #0", r);
        }
        String name = "kiln_sums_2x4" + BlockedSums.suffix(packed);
        String weights = packed ? ", two of which are a byte" : "";
        return new BlockedSums(
                name,
                2,
                4,
                false,
                packed,
                """
                /* sums[channel][pixel] of the inputs of two pixels times the weights of four channels%s. */
                __attribute__((noinline)) static void %s(const int8_t* x, int32_t stride, const int8_t* w, int32_t taps, int32_t* sums) {
                #if defined(__thumb__) && __ARM_ARCH_ISA_THUMB >= 2
                  register const int8_t* r0 __asm__("r0") = x;
                  register const int8_t* r1 __asm__("r1") = x + stride;
                  register const int8_t* r2 __asm__("r2") = w;
                  register int32_t* r3 __asm__("r3") = sums;
                  register const int8_t* r4 __asm__("r4") = x + taps;
                  __asm__ volatile(
                      "push {r7, r11}\\n"
                      "push {r3, r4}\\n"
                %s      "1:\\n"
                %s      "ldr r3, [sp, #4]\\n"
                      "cmp r0, r3\\n"
                      "bne 1b\\n"
                %s      "ldr r3, [sp]\\n"
                      "stmia r3, {r4, r5, r6, r7, r8, r9, r10, r11}\\n"
                      "add sp, #8\\n"
                      "pop {r7, r11}\\n"
                      : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r4)
                      :
                      : "r5", "r6", "r8", "r9", "r10", "r12", "lr", "cc", "memory");
                #else
                %s#endif
                }
                """.formatted(weights, name, zero, step, end, twin(2, 4, packed)),
                Optional.empty());
    }

    /**
     * Armv6-M, where one MULS multiplies a weight by two pixels' inputs: {@code w * (a + 65536 * b)}. The lower half holds the product
     * of the first pixel as long as it stays in 16 bits, which two products do. Two steps are 25 instructions for 8 products.
     *
     * <pre>
     * r0       pairs of inputs                r4 r5      two steps' products of channels 0 and 1
     * r1 r3    weights: base and index        r8 r9      sums of channel 0, both pixels
     * r2 r6    pairs of two steps             r10 r12    sums of channel 1
     * r7       a weight, a product            lr         end of the pairs
     * stack    r7, which may be the frame pointer, and sums
     * </pre>
     *
     * <p>Of pairs of weights a load and an addition are two shifts.
     */
    static BlockedSums thumb1(boolean packed) {
        StringBuilder step = new StringBuilder();
        line(step, "ldmia r0!, {r2, r6}");
        if (packed) {
            pairOfProducts(step);
        } else {
            products(step);
        }
        String[] sums = {"r8", "r9", "r10", "r12"};
        for (int c = 0; c < 2; c++) {
            line(step, "sxth r7, r%d", 4 + c);
            line(step, "subs r%d, r7", 4 + c);
            line(step, "add %s, r7", sums[2 * c]);
            line(step, "asrs r%d, #16", 4 + c);
            line(step, "add %s, r%d", sums[2 * c + 1], 4 + c);
        }
        String name = "kiln_sums_pair_x2" + BlockedSums.suffix(packed);
        return new BlockedSums(
                name,
                2,
                2,
                true,
                packed,
                """
                /* sums[channel][pixel] of the inputs of two pixels, first + 65536 * second, times the weights of two channels%s. The number of taps
                   is even. */
                static inline void %s(const int32_t* x, const int8_t* w, int32_t taps, int32_t* sums) {
                #if defined(__thumb__) && __ARM_ARCH_ISA_THUMB == 1
                  register const int32_t* r0 __asm__("r0") = x;
                  register const int8_t* r1 __asm__("r1") = w;
                  register const int32_t* r2 __asm__("r2") = x + taps;
                  register int32_t* r3 __asm__("r3") = sums;
                  __asm__ volatile(
                      ".syntax unified\\n"
                      "push {r3, r7}\\n"
                      "mov lr, r2\\n"
                      "movs r3, #0\\n"
                      "mov r8, r3\\n"
                      "mov r9, r3\\n"
                      "mov r10, r3\\n"
                      "mov r12, r3\\n"
                      "1:\\n"
                %s      "cmp r0, lr\\n"
                      "bne 1b\\n"
                      "pop {r3, r7}\\n"
                      "mov r0, r8\\n"
                      "mov r1, r9\\n"
                      "mov r2, r10\\n"
                      "mov r4, r12\\n"
                %s      "stmia r3!, {r0, r1, r2, r4}\\n"
                      : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3)
                      :
                      : "r4", "r5", "r6", "r8", "r9", "r10", "r12", "lr", "cc", "memory");
                #else
                  for (int32_t i = 0; i < 4; ++i) {
                    sums[i] = 0;
                  }
                  for (int32_t i = 0; i < taps; ++i) {
                    const int32_t first = (int16_t)x[i];
                    const int32_t second = (x[i] - first) / 65536;
                    for (int32_t c = 0; c < 2; ++c) {
                %s      sums[2 * c] += first * %s;
                      sums[2 * c + 1] += second * %s;
                    }
                  }
                #endif
                }
                """.formatted(
                                packed ? ", which are a byte" : "",
                                name,
                                step,
                                packed ? pairEnd() : "",
                                packed ? takenApart(2) : "",
                                weight(2, packed),
                                weight(2, packed)),
                Optional.empty());
    }

    private static void products(StringBuilder step) {
        for (String product : List.of("r4", "r5")) {
            line(step, "ldrsb %s, [r1, r3]", product);
            line(step, "adds r3, #1");
            line(step, "muls %s, r2, %s", product, product);
        }
        for (String product : List.of("r4", "r5")) {
            line(step, "ldrsb r7, [r1, r3]");
            line(step, "adds r3, #1");
            line(step, "muls r7, r6, r7");
            line(step, "adds %s, r7", product);
        }
    }

    private static void pairOfProducts(StringBuilder step) {
        line(step, "ldrsb r5, [r1, r3]");
        line(step, "adds r3, #1");
        line(step, "lsls r4, r5, #28");
        line(step, "asrs r4, #28");
        line(step, "muls r4, r2, r4");
        line(step, "muls r5, r2, r5");
        line(step, "ldrsb r7, [r1, r3]");
        line(step, "adds r3, #1");
        line(step, "lsls r2, r7, #28");
        line(step, "asrs r2, #28");
        line(step, "muls r2, r6, r2");
        line(step, "adds r4, r2");
        line(step, "muls r7, r6, r7");
        line(step, "adds r5, r7");
    }

    /** C of the weight of channel {@code c} in step {@code i}. */
    private static String weight(int channels, boolean packed) {
        return packed ? "weight" : "w[" + channels + " * i + c]";
    }

    /** C that finds it in a pair. */
    private static String takenApart(int channels) {
        return """
                  const int32_t both = w[%d * i + c / 2];
                  const int32_t even = (int8_t)((uint8_t)both << 4) >> 4;
                  const int32_t weight = c %% 2 == 0 ? even : (both - even) / 16;
            """.formatted(channels / 2);
    }

    private static String twin(int pixels, int channels, boolean packed) {
        return """
              for (int32_t i = 0; i < %d; ++i) {
                sums[i] = 0;
              }
              for (int32_t i = 0; i < taps; ++i) {
                for (int32_t c = 0; c < %d; ++c) {
            %s      for (int32_t p = 0; p < %d; ++p) {
                    sums[%d * c + p] += x[p * stride + i] * %s;
                  }
                }
              }
            """.formatted(
                        pixels * channels,
                        channels,
                        packed ? takenApart(channels) : "",
                        pixels,
                        pixels,
                        weight(channels, packed));
    }

    private static void line(StringBuilder out, String format, Object... arguments) {
        out.append("      \"")
                .append(String.format(Locale.ROOT, format, arguments))
                .append("\\n\"\n");
    }
}
