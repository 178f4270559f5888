// SPDX-License-Identifier: Apache-2.0
// Armv6-M: one MULS multiplies a weight by the inputs of two pixels, w * (a + 65536 * b). The lower half holds the product of the
// first pixel as long as it stays in 16 bits, which two products do. Two taps are 22 instructions for 8 products. The sum of the
// whole words minus that of their upper halves is the sum of the lower halves.
// r0       pairs of inputs                r4 r5      products of channels 0 and 1 in two taps
// r1       weights                        r8 r9      channel 0: sums of words, of second pixels
// r2 r6    pairs of two taps              r10 r11    channel 1
// r3       weights of two taps            r12        half of 65536: rounds to the second pixel
// r7       a weight, a product            lr         end of the pairs
#pragma once
#include <stdint.h>

/* sums[channel][pixel] of the inputs of two pixels, first + 65536 * second, times the weights of two channels. The number of taps
   is even. */
#if defined(__thumb__) && __ARM_ARCH_ISA_THUMB == 1
__attribute__((naked, noinline)) static void kiln_sums_of_pair_x2(__attribute__((unused)) const int32_t* x, __attribute__((unused)) const int8_t* w, __attribute__((unused)) int32_t* sums, __attribute__((unused)) int32_t taps) {
  __asm__ volatile(
      ".syntax unified\n"
      "push {r2, r4-r7, lr}\n"
      "mov r4, r8\n"
      "mov r5, r9\n"
      "mov r6, r10\n"
      "mov r7, r11\n"
      "push {r4-r7}\n"
      "lsls r3, r3, #2\n"
      "adds r3, r3, r0\n"
      "mov lr, r3\n"
      "movs r3, #128\n"
      "lsls r3, r3, #8\n"
      "mov r12, r3\n"
      "movs r3, #0\n"
      "mov r8, r3\n"
      "mov r9, r3\n"
      "mov r10, r3\n"
      "mov r11, r3\n"
      "1:\n"
      "ldmia r0!, {r2, r6}\n"
      "ldmia r1!, {r3}\n"
      "sxtb r4, r3\n"
      "muls r4, r2, r4\n"
      "asrs r3, r3, #8\n"
      "sxtb r5, r3\n"
      "muls r5, r2, r5\n"
      "asrs r3, r3, #8\n"
      "sxtb r7, r3\n"
      "muls r7, r6, r7\n"
      "adds r4, r4, r7\n"
      "asrs r3, r3, #8\n"
      "muls r3, r6, r3\n"
      "adds r5, r5, r3\n"
      "add r8, r4\n"
      "add r4, r12\n"
      "asrs r4, r4, #16\n"
      "add r9, r4\n"
      "add r10, r5\n"
      "add r5, r12\n"
      "asrs r5, r5, #16\n"
      "add r11, r5\n"
      "cmp r0, lr\n"
      "bne 1b\n"
      "mov r0, r8\n"
      "mov r1, r9\n"
      "mov r2, r10\n"
      "mov r3, r11\n"
      "lsls r4, r1, #16\n"
      "subs r0, r0, r4\n"
      "lsls r4, r3, #16\n"
      "subs r2, r2, r4\n"
      "pop {r4-r7}\n"
      "mov r8, r4\n"
      "mov r9, r5\n"
      "mov r10, r6\n"
      "mov r11, r7\n"
      "pop {r4}\n"
      "stmia r4!, {r0-r3}\n"
      "pop {r4-r7, pc}\n"
  );
}
#else
static void kiln_sums_of_pair_x2(const int32_t* x, const int8_t* w, int32_t* sums, int32_t taps) {
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
}
#endif
