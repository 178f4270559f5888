// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.base.DType;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.Intrinsic;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The inner loop of {@link BlockedConv} for one core: sums of some pixels' inputs times some channels' weights, as a C function
 * with inline assembly and a portable twin; or no more than the sizes of its blocks, where the whole kernel is assembly.
 *
 * @param name C name
 * @param pixels pixels of a block
 * @param channels channels of a block
 * @param pairsInputs whether the inputs of two pixels come as {@code first + 65536 * second} in one word
 * @param definition C text
 * @param assembly the whole kernel
 */
record BlockedSums(
        String name,
        int pixels,
        int channels,
        boolean pairsInputs,
        String definition,
        Optional<BlockedAssembly> assembly) {
    /** Steps that are written out for speed. */
    private static final int UNROLL = 8;

    /**
     * The loop that suits a core and a layer best, if the core is one of those without SIMD. Cores with it get the loop of Armv7-M where
     * size counts: one kernel for all layers, and weights as they are.
     */
    static Optional<BlockedSums> of(ConvTask task) {
        CpuFeatures features = task.features();
        boolean small = task.isForSize();
        return switch (features.family()) {
            case RISCV ->
                features.bits() == 32 && features.hasLongMultiply()
                        ? Optional.of(riscV(task.conv().output().dim(2), small ? 1 : UNROLL))
                        : Optional.empty();
            case CORTEX_M -> {
                if (features.hasDsp()) {
                    yield small ? Optional.of(smallThumb2()) : Optional.empty();
                }
                yield Optional.of(!features.hasLongMultiply() ? thumb1() : small ? smallThumb2() : thumb2());
            }
            case HOST, OTHER -> Optional.empty();
        };
    }

    private static BlockedSums thumb2() {
        return new BlockedSums("kiln_sums_2x4", 2, 4, false, "", Optional.of(new BlockedThumb()));
    }

    /** Four pixels and channels, or five pixels where they fill rows and four do not. */
    private static BlockedSums riscV(int width, int unroll) {
        boolean five = width % 5 == 0 && width % 4 != 0;
        BlockedRiscV assembly = new BlockedRiscV(five ? 5 : 4, five ? 3 : 4, unroll);
        String name = "kiln_sums_" + assembly.pixels() + "x" + assembly.channels();
        return new BlockedSums(name, assembly.pixels(), assembly.channels(), false, "", Optional.of(assembly));
    }

    /** The C function, for kernels to use. */
    Intrinsic intrinsic() {
        return new Intrinsic(name, List.of(), DType.INT32, "", definition, List.of());
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
     */
    private static BlockedSums smallThumb2() {
        StringBuilder step = new StringBuilder();
        line(step, "ldrsb r3, [r0], #1");
        line(step, "ldrsb r12, [r1], #1");
        for (int c = 0; c < 4; c++) {
            line(step, "ldrsb lr, [r2], #1");
            line(step, "mla r%d, r3, lr, r%d", 4 + 2 * c, 4 + 2 * c);
            line(step, "mla r%d, r12, lr, r%d", 5 + 2 * c, 5 + 2 * c);
        }
        StringBuilder zero = new StringBuilder();
        for (int r = 4; r <= 11; r++) {
            line(zero, "mov r%d, #0", r);
        }
        return new BlockedSums("kiln_sums_2x4", 2, 4, false, """
            /* sums[channel][pixel] of the inputs of two pixels times the weights of four channels. */
            __attribute__((noinline)) static void kiln_sums_2x4(const int8_t* x, int32_t stride, const int8_t* w, int32_t taps, int32_t* sums) {
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
                  "ldr r3, [sp]\\n"
                  "stmia r3, {r4, r5, r6, r7, r8, r9, r10, r11}\\n"
                  "add sp, #8\\n"
                  "pop {r7, r11}\\n"
                  : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r4)
                  :
                  : "r5", "r6", "r8", "r9", "r10", "r12", "lr", "cc", "memory");
            #else
            %s#endif
            }
            """.formatted(zero, step, twin(2, 4)), Optional.empty());
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
     */
    private static BlockedSums thumb1() {
        StringBuilder step = new StringBuilder();
        line(step, "ldmia r0!, {r2, r6}");
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
        String[] sums = {"r8", "r9", "r10", "r12"};
        for (int c = 0; c < 2; c++) {
            line(step, "sxth r7, r%d", 4 + c);
            line(step, "subs r%d, r7", 4 + c);
            line(step, "add %s, r7", sums[2 * c]);
            line(step, "asrs r%d, #16", 4 + c);
            line(step, "add %s, r%d", sums[2 * c + 1], 4 + c);
        }
        return new BlockedSums("kiln_sums_pair_x2", 2, 2, true, """
            /* sums[channel][pixel] of the inputs of two pixels, first + 65536 * second, times the weights of two channels. The number of taps
               is even. */
            static inline void kiln_sums_pair_x2(const int32_t* x, const int8_t* w, int32_t taps, int32_t* sums) {
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
                  "stmia r3!, {r0, r1, r2, r4}\\n"
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
                  sums[2 * c] += first * w[2 * i + c];
                  sums[2 * c + 1] += second * w[2 * i + c];
                }
              }
            #endif
            }
            """.formatted(step), Optional.empty());
    }

    private static String twin(int pixels, int channels) {
        return """
              for (int32_t i = 0; i < %d; ++i) {
                sums[i] = 0;
              }
              for (int32_t i = 0; i < taps; ++i) {
                for (int32_t c = 0; c < %d; ++c) {
                  for (int32_t p = 0; p < %d; ++p) {
                    sums[%d * c + p] += x[p * stride + i] * w[%d * i + c];
                  }
                }
              }
            """.formatted(pixels * channels, channels, pixels, pixels, channels);
    }

    private static void line(StringBuilder out, String format, Object... arguments) {
        out.append("      \"")
                .append(String.format(Locale.ROOT, format, arguments))
                .append("\\n\"\n");
    }
}
