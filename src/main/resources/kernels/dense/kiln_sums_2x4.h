// SPDX-License-Identifier: Apache-2.0
// Armv7-M in little flash. A step is 14 instructions for 8 products: 6 LDRSB, 8 MLA. The loop has two steps; an odd number of them begins with the second.
// r0 r1    inputs, from pixel to pixel    r4 to r7   sums of channel 0, both pixels, and channel 1
// r2       weights                        r8 to r11  sums of channels 2 and 3
// r3 r12   the inputs of a step           lr         a weight
// stack    sums, end, r7 and r11, which may be frame pointers
#pragma once
#include <stdint.h>

/* sums[channel][pixel] of the inputs of two pixels times the weights of four channels. */
__attribute__((noinline)) static void kiln_sums_2x4(const int8_t* x, int32_t stride, const int8_t* w, int32_t taps, int32_t* sums) {
#if defined(__thumb__) && __ARM_ARCH_ISA_THUMB >= 2
  register const int8_t* r0 __asm__("r0") = x;
  register int32_t r1 __asm__("r1") = stride;
  register const int8_t* r2 __asm__("r2") = w;
  register int32_t* r3 __asm__("r3") = sums;
  register const int8_t* r4 __asm__("r4") = x + taps;
  __asm__ volatile(
      "push {r7, r11}\n"
      "push {r3, r4}\n"
      "sub r4, r4, r0\n"
      "lsls r4, r4, #31\n"
      "mov r4, #0\n"
      "mov r5, #0\n"
      "mov r6, #0\n"
      "mov r7, #0\n"
      "mov r8, #0\n"
      "mov r9, #0\n"
      "mov r10, #0\n"
      "mov r11, #0\n"
      "bne 2f\n"
      ".irp half, 1, 2\n"
      "\\half:\n"
      "  ldrsb r12, [r0, r1]\n"
      "  ldrsb r3, [r0], #1\n"
      "  ldrsb lr, [r2], #1\n"
      "  mla r4, r3, lr, r4\n"
      "  mla r5, r12, lr, r5\n"
      "  ldrsb lr, [r2], #1\n"
      "  mla r6, r3, lr, r6\n"
      "  mla r7, r12, lr, r7\n"
      "  ldrsb lr, [r2], #1\n"
      "  mla r8, r3, lr, r8\n"
      "  mla r9, r12, lr, r9\n"
      "  ldrsb lr, [r2], #1\n"
      "  mla r10, r3, lr, r10\n"
      "  mla r11, r12, lr, r11\n"
      ".endr\n"
      "ldr r3, [sp, #4]\n"
      "cmp r0, r3\n"
      "bne 1b\n"
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
      for (int32_t p = 0; p < 2; ++p) {
        sums[2 * c + p] += x[p * stride + i] * w[4 * i + c];
      }
    }
  }
#endif
}
