// SPDX-License-Identifier: Apache-2.0
// Armv6-M: one MULS multiplies a weight by the inputs of two pixels, w * (a + 65536 * b). The lower half holds the product of the
// first pixel as long as it stays in 16 bits, which two products do. Two steps are 25 instructions for 8 products.
// r0       pairs of inputs                r4 r5      products of channels 0 and 1 in two steps
// r1 r3    weights: base and index        r8 r9      sums of channel 0, both pixels
// r2 r6    pairs of two steps             r10 r12    sums of channel 1
// r7       a weight, a product            lr         end of the pairs
// stack    r7, which may be the frame pointer, and sums
#pragma once
#include <stdint.h>

/* sums[channel][pixel] of the inputs of two pixels, first + 65536 * second, times the weights of two channels. The number of taps
   is even. */
static inline void kiln_sums_pair_x2(const int32_t* x, const int8_t* w, int32_t taps, int32_t* sums) {
#if defined(__thumb__) && __ARM_ARCH_ISA_THUMB == 1
  register const int32_t* r0 __asm__("r0") = x;
  register const int8_t* r1 __asm__("r1") = w;
  register const int32_t* r2 __asm__("r2") = x + taps;
  register int32_t* r3 __asm__("r3") = sums;
  __asm__ volatile(
      ".syntax unified\n"
      "push {r3, r7}\n"
      "mov lr, r2\n"
      "movs r3, #0\n"
      "mov r8, r3\n"
      "mov r9, r3\n"
      "mov r10, r3\n"
      "mov r12, r3\n"
      "1:\n"
      "ldmia r0!, {r2, r6}\n"
      "ldrsb r4, [r1, r3]\n"
      "adds r3, #1\n"
      "muls r4, r2, r4\n"
      "ldrsb r5, [r1, r3]\n"
      "adds r3, #1\n"
      "muls r5, r2, r5\n"
      "ldrsb r7, [r1, r3]\n"
      "adds r3, #1\n"
      "muls r7, r6, r7\n"
      "adds r4, r7\n"
      "ldrsb r7, [r1, r3]\n"
      "adds r3, #1\n"
      "muls r7, r6, r7\n"
      "adds r5, r7\n"
      "sxth r7, r4\n"
      "subs r4, r7\n"
      "add r8, r7\n"
      "asrs r4, #16\n"
      "add r9, r4\n"
      "sxth r7, r5\n"
      "subs r5, r7\n"
      "add r10, r7\n"
      "asrs r5, #16\n"
      "add r12, r5\n"
      "cmp r0, lr\n"
      "bne 1b\n"
      "pop {r3, r7}\n"
      "mov r0, r8\n"
      "mov r1, r9\n"
      "mov r2, r10\n"
      "mov r4, r12\n"
      "stmia r3!, {r0, r1, r2, r4}\n"
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
