// SPDX-License-Identifier: Apache-2.0
// Armv7-M in little flash. A step is 14 instructions for 8 products: 6 LDRSB, 8 MLA; of pairs of weights 2 LDRSB are 2 SBFX.
// r0 r1    inputs of both pixels          r4 to r7   sums of channel 0, both pixels, and channel 1
// r2       weights                        r8 to r11  sums of channels 2 and 3
// r3 r12   the inputs of a step           lr         a weight
// stack    sums, end, r7 and r11, which may be frame pointers
#pragma once
#include <stdint.h>

/* sums[channel][pixel] of the inputs of two pixels times the weights of four channels, two of which are a byte. */
__attribute__((noinline)) static void kiln_sums_2x4_packed(const int8_t* x, int32_t stride, const int8_t* w, int32_t taps, int32_t* sums) {
#if defined(__thumb__) && __ARM_ARCH_ISA_THUMB >= 2
  register const int8_t* r0 __asm__("r0") = x;
  register const int8_t* r1 __asm__("r1") = x + stride;
  register const int8_t* r2 __asm__("r2") = w;
  register int32_t* r3 __asm__("r3") = sums;
  register const int8_t* r4 __asm__("r4") = x + taps;
  __asm__ volatile(
      "push {r7, r11}\n"
      "push {r3, r4}\n"
      "mov r4, #0\n"
      "mov r5, #0\n"
      "mov r6, #0\n"
      "mov r7, #0\n"
      "mov r8, #0\n"
      "mov r9, #0\n"
      "mov r10, #0\n"
      "mov r11, #0\n"
      "1:\n"
      "ldrsb r3, [r0], #1\n"
      "ldrsb r12, [r1], #1\n"
      "ldrsb lr, [r2], #1\n"
      "mla r6, r3, lr, r6\n"
      "mla r7, r12, lr, r7\n"
      "sbfx lr, lr, #0, #4\n"
      "mla r4, r3, lr, r4\n"
      "mla r5, r12, lr, r5\n"
      "ldrsb lr, [r2], #1\n"
      "mla r10, r3, lr, r10\n"
      "mla r11, r12, lr, r11\n"
      "sbfx lr, lr, #0, #4\n"
      "mla r8, r3, lr, r8\n"
      "mla r9, r12, lr, r9\n"
      "ldr r3, [sp, #4]\n"
      "cmp r0, r3\n"
      "bne 1b\n"
      "sub r6, r6, r4\n"
      "asr r6, r6, #4\n"
      "sub r7, r7, r5\n"
      "asr r7, r7, #4\n"
      "sub r10, r10, r8\n"
      "asr r10, r10, #4\n"
      "sub r11, r11, r9\n"
      "asr r11, r11, #4\n"
      "ldr r3, [sp]\n"
      "stmia r3, {r4, r5, r6, r7, r8, r9, r10, r11}\n"
      "add sp, #8\n"
      "pop {r7, r11}\n"
      : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r4)
      :
      : "r5", "r6", "r8", "r9", "r10", "r12", "lr", "cc", "memory");
#else
  for (int32_t i = 0; i < 8; ++i) {
    sums[i] = 0;
  }
  for (int32_t i = 0; i < taps; ++i) {
    for (int32_t c = 0; c < 4; ++c) {
      const int32_t both = w[2 * i + c / 2];
      const int32_t even = (int8_t)((uint8_t)both << 4) >> 4;
      const int32_t weight = c % 2 == 0 ? even : (both - even) / 16;
      for (int32_t p = 0; p < 2; ++p) {
        sums[2 * c + p] += x[p * stride + i] * weight;
      }
    }
  }
#endif
}
