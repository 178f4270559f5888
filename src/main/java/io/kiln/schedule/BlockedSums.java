// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.base.DType;
import io.kiln.base.Optimize;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.Intrinsic;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The inner loop of {@link BlockedConv} for one core: sums of some pixels' inputs times some channels' weights, as a C function
 * with inline assembly and a portable twin.
 *
 * @param name C name
 * @param pixels pixels of a block
 * @param channels channels of a block
 * @param pairsInputs whether the inputs of two pixels come as {@code first + 65536 * second} in one word
 * @param definition C text
 */
record BlockedSums(String name, int pixels, int channels, boolean pairsInputs, String definition) {
    /**
     * The loop that suits a core best, if it is one of those without SIMD. Cores with it get the loop of Armv7-M where size counts: one
     * kernel for all layers, and weights as they are.
     */
    static Optional<BlockedSums> of(CpuFeatures features, Optimize optimize) {
        boolean small = optimize == Optimize.SIZE;
        return switch (features.family()) {
            case RISCV -> features.bits() == 32 && features.hasLongMultiply() ? Optional.of(riscV()) : Optional.empty();
            case CORTEX_M -> {
                if (features.hasDsp()) {
                    yield small ? Optional.of(thumb2(1)) : Optional.empty();
                }
                yield Optional.of(features.hasLongMultiply() ? thumb2(small ? 1 : 8) : thumb1());
            }
            case HOST, OTHER -> Optional.empty();
        };
    }

    /** The C function, for kernels to use. */
    Intrinsic intrinsic() {
        return new Intrinsic(name, List.of(), DType.INT32, "", definition, List.of());
    }

    /**
     * Armv7-M. A step is 14 instructions for 8 products: 6 LDRSB, 8 MLA.
     *
     * <pre>
     * r0 r1    inputs of both pixels          r4 to r7   sums of channel 0, both pixels, and channel 1
     * r2       weights                        r8 to r11  sums of channels 2 and 3
     * r3 r12   the inputs of a step           lr         a weight
     * stack    sums, end of the unrolled loop, end, r7 and r11, which may be frame pointers
     * </pre>
     */
    private static BlockedSums thumb2(int unroll) {
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
                static inline void kiln_sums_2x4(const int8_t* x, int32_t stride, const int8_t* w, int32_t taps, int32_t* sums) {
                #if defined(__thumb__) && __ARM_ARCH_ISA_THUMB >= 2
                  register const int8_t* r0 __asm__("r0") = x;
                  register const int8_t* r1 __asm__("r1") = x + stride;
                  register const int8_t* r2 __asm__("r2") = w;
                  register int32_t* r3 __asm__("r3") = sums;
                  register const int8_t* r4 __asm__("r4") = x + (taps & -%d);
                  register const int8_t* r5 __asm__("r5") = x + taps;
                  __asm__ volatile(
                      "push {r7, r11}\\n"
                      "push {r3, r4, r5}\\n"
                %s%s                      "b 4f\\n"
                      "3:\\n"
                %s      "4:\\n"
                      "ldr r3, [sp, #8]\\n"
                      "cmp r0, r3\\n"
                      "bne 3b\\n"
                      "ldr r3, [sp]\\n"
                      "stmia r3, {r4, r5, r6, r7, r8, r9, r10, r11}\\n"
                      "add sp, #12\\n"
                      "pop {r7, r11}\\n"
                      : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r4), "+r"(r5)
                      :
                      : "r6", "r8", "r9", "r10", "r12", "lr", "cc", "memory");
                #else
                %s#endif
                }
                """.formatted(
                        unroll, zero, unroll == 1 ? "" : unrolled(unroll, step), step, twin(2, 4)));
    }

    private static String unrolled(int unroll, StringBuilder step) {
        return """
                      "b 2f\\n"
                      "1:\\n"
                      ".rept %d\\n"
                %s      ".endr\\n"
                      "2:\\n"
                      "ldr r3, [sp, #4]\\n"
                      "cmp r0, r3\\n"
                      "bne 1b\\n"
                """.formatted(unroll, step);
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
                """.formatted(step));
    }

    /**
     * RV32IM. A step is 40 instructions for 16 products: 8 LB, 16 MUL, 16 ADD.
     *
     * <pre>
     * a0 to a3       inputs of four pixels      t0 to t6, a7, s1 to s8   sums, channel by channel
     * a4             weights                    a5                       a weight
     * s9 s10 s11 ra  the inputs of a step       s0                       a product
     * a6             end                        stack                    s0, which may be the frame pointer, sums, end
     * </pre>
     */
    private static BlockedSums riscV() {
        StringBuilder zero = new StringBuilder();
        for (String sum : RISCV_SUMS) {
            line(zero, "li %s, 0", sum);
        }
        StringBuilder unrolled = new StringBuilder();
        for (int i = 0; i < 4; i++) {
            riscVStep(unrolled, i);
        }
        StringBuilder step = new StringBuilder();
        riscVStep(step, 0);
        StringBuilder store = new StringBuilder();
        for (int i = 0; i < RISCV_SUMS.size(); i++) {
            line(store, "sw %s, %d(a5)", RISCV_SUMS.get(i), 4 * i);
        }
        return new BlockedSums("kiln_sums_4x4", 4, 4, false, """
                /* sums[channel][pixel] of the inputs of four pixels times the weights of four channels. */
                static inline void kiln_sums_4x4(const int8_t* x, int32_t stride, const int8_t* w, int32_t taps, int32_t* sums) {
                #if defined(__riscv_mul) && __riscv_xlen == 32 && !defined(__riscv_32e) && !defined(__riscv_e)
                  register const int8_t* a0 __asm__("a0") = x;
                  register const int8_t* a1 __asm__("a1") = x + stride;
                  register const int8_t* a2 __asm__("a2") = x + 2 * stride;
                  register const int8_t* a3 __asm__("a3") = x + 3 * stride;
                  register const int8_t* a4 __asm__("a4") = w;
                  register int32_t* a5 __asm__("a5") = sums;
                  register const int8_t* a6 __asm__("a6") = x + (taps & ~3);
                  register const int8_t* a7 __asm__("a7") = x + taps;
                  __asm__ volatile(
                      "addi sp, sp, -16\\n"
                      "sw s0, 0(sp)\\n"
                      "sw a5, 4(sp)\\n"
                      "sw a7, 8(sp)\\n"
                %s      "beq a0, a6, 2f\\n"
                      "1:\\n"
                %s      "addi a0, a0, 4\\n"
                      "addi a1, a1, 4\\n"
                      "addi a2, a2, 4\\n"
                      "addi a3, a3, 4\\n"
                      "addi a4, a4, 16\\n"
                      "bne a0, a6, 1b\\n"
                      "2:\\n"
                      "lw a6, 8(sp)\\n"
                      "beq a0, a6, 4f\\n"
                      "3:\\n"
                %s      "addi a0, a0, 1\\n"
                      "addi a1, a1, 1\\n"
                      "addi a2, a2, 1\\n"
                      "addi a3, a3, 1\\n"
                      "addi a4, a4, 4\\n"
                      "bne a0, a6, 3b\\n"
                      "4:\\n"
                      "lw a5, 4(sp)\\n"
                %s      "lw s0, 0(sp)\\n"
                      "addi sp, sp, 16\\n"
                      : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4), "+r"(a5), "+r"(a6), "+r"(a7)
                      :
                      : "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11",
                        "memory");
                #else
                %s#endif
                }
                """.formatted(zero, unrolled, step, store, twin(4, 4)));
    }

    private static final List<String> RISCV_SUMS =
            List.of("t0", "t1", "t2", "t3", "t4", "t5", "t6", "a7", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8");

    private static void riscVStep(StringBuilder out, int tap) {
        List<String> inputs = List.of("s9", "s10", "s11", "ra");
        for (int p = 0; p < 4; p++) {
            line(out, "lb %s, %d(a%d)", inputs.get(p), tap, p);
        }
        for (int c = 0; c < 4; c++) {
            line(out, "lb a5, %d(a4)", 4 * tap + c);
            for (int p = 0; p < 4; p++) {
                String sum = RISCV_SUMS.get(4 * c + p);
                line(out, "mul s0, %s, a5", inputs.get(p));
                line(out, "add %s, %s, s0", sum, sum);
            }
        }
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
