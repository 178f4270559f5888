// SPDX-License-Identifier: Apache-2.0
// A tap is 16 instructions for 4 products on Armv7-M: 8 LDRSB, 4 MLA; and 30 on Armv6-M, where only LDRB takes an offset: 8 LDRB, 8 SXTB, 4 MULS.
// r0 r1    inputs, weights                r4 to r7   sums
// Armv7-M: r2 r3 from tap to tap          r8 to r11  inputs and weights      r12 lr  taps left, rows left
// Armv6-M: r8 r9 from tap to tap          r2 r3      an input, a weight      r10     taps left
// RV32IM takes 21 instructions; most of them run while the multiplier is busy.
// stack    on Armv6-M rows left; taps of a row, from row to row, sums, r7 and r11, which may be frame pointers
#pragma once
#include <stdint.h>

/* Sums of four channels of one pixel. window: rows, taps of a row, elements from the end of a row to the next one, from tap to tap in the
   inputs and in the weights. */
__attribute__((noinline)) static void kiln_depthwise_sums(const int8_t* x, const int8_t* w, const int32_t* window, int32_t* sums) {
#if defined(__thumb__)
  register const int8_t* r0 __asm__("r0") = x;
  register const int8_t* r1 __asm__("r1") = w;
  register const int32_t* r2 __asm__("r2") = window;
  register int32_t* r3 __asm__("r3") = sums;
#endif
#if defined(__thumb__) && __ARM_ARCH_ISA_THUMB >= 2
  __asm__ volatile(
      "push {r3, r7, r11}\n"
      "ldm r2, {r4, r5, r6, r7, r8}\n"
      "push {r5, r6}\n"
      "mov lr, r4\n"
      "mov r2, r7\n"
      "mov r3, r8\n"
      "mov r4, #0\n"
      "mov r5, #0\n"
      "mov r6, #0\n"
      "mov r7, #0\n"
      "1:\n"
      "ldr r12, [sp]\n"
      "2:\n"
      "ldrsb r8, [r0]\n"
      "ldrsb r9, [r0, #1]\n"
      "ldrsb r10, [r1]\n"
      "ldrsb r11, [r1, #1]\n"
      "mla r4, r8, r10, r4\n"
      "mla r5, r9, r11, r5\n"
      "ldrsb r8, [r0, #2]\n"
      "ldrsb r9, [r0, #3]\n"
      "ldrsb r10, [r1, #2]\n"
      "ldrsb r11, [r1, #3]\n"
      "mla r6, r8, r10, r6\n"
      "mla r7, r9, r11, r7\n"
      "add r0, r2\n"
      "add r1, r3\n"
      "subs r12, #1\n"
      "bne 2b\n"
      "ldr r8, [sp, #4]\n"
      "add r0, r8\n"
      "subs lr, #1\n"
      "bne 1b\n"
      "add sp, #8\n"
      "pop {r3}\n"
      "stmia r3, {r4, r5, r6, r7}\n"
      "pop {r7, r11}\n"
      : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3)
      :
      : "r4", "r5", "r6", "r8", "r9", "r10", "r12", "lr", "cc", "memory");
#elif defined(__thumb__)
  __asm__ volatile(
      ".syntax unified\n"
      "push {r3, r7}\n"
      "ldmia r2!, {r4, r5, r6}\n"
      "push {r4, r5, r6}\n"
      "ldmia r2!, {r4, r5}\n"
      "mov r8, r4\n"
      "mov r9, r5\n"
      "movs r4, #0\n"
      "movs r5, #0\n"
      "movs r6, #0\n"
      "movs r7, #0\n"
      "1:\n"
      "ldr r2, [sp, #4]\n"
      "2:\n"
      "mov r10, r2\n"
      "ldrb r2, [r0]\n"
      "ldrb r3, [r1]\n"
      "sxtb r2, r2\n"
      "sxtb r3, r3\n"
      "muls r3, r2, r3\n"
      "adds r4, r4, r3\n"
      "ldrb r2, [r0, #1]\n"
      "ldrb r3, [r1, #1]\n"
      "sxtb r2, r2\n"
      "sxtb r3, r3\n"
      "muls r3, r2, r3\n"
      "adds r5, r5, r3\n"
      "ldrb r2, [r0, #2]\n"
      "ldrb r3, [r1, #2]\n"
      "sxtb r2, r2\n"
      "sxtb r3, r3\n"
      "muls r3, r2, r3\n"
      "adds r6, r6, r3\n"
      "ldrb r2, [r0, #3]\n"
      "ldrb r3, [r1, #3]\n"
      "sxtb r2, r2\n"
      "sxtb r3, r3\n"
      "muls r3, r2, r3\n"
      "adds r7, r7, r3\n"
      "add r0, r8\n"
      "add r1, r9\n"
      "mov r2, r10\n"
      "subs r2, #1\n"
      "bne 2b\n"
      "ldr r2, [sp, #8]\n"
      "adds r0, r0, r2\n"
      "ldr r2, [sp]\n"
      "subs r2, #1\n"
      "str r2, [sp]\n"
      "bne 1b\n"
      "add sp, #12\n"
      "pop {r3}\n"
      "stmia r3!, {r4, r5, r6, r7}\n"
      "pop {r7}\n"
      : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3)
      :
      : "r4", "r5", "r6", "r8", "r9", "r10", "cc", "memory");
#else
  int32_t sum0 = 0;
  int32_t sum1 = 0;
  int32_t sum2 = 0;
  int32_t sum3 = 0;
#if defined(__riscv_mul) && __riscv_xlen == 32 && !defined(__riscv_32e) && !defined(__riscv_e)
  int32_t rows = window[0];
  int32_t left;
  int32_t product = 0;
  int32_t x0;
  int32_t x1;
  int32_t x2;
  int32_t w0;
  int32_t w1;
  int32_t w2;
  __asm__ volatile(
      "1:\n"
      "mv %[left], %[columns]\n"
      "2:\n"
      "lb %[x0], 0(%[x])\n"
      "lb %[w0], 0(%[w])\n"
      "lb %[x1], 1(%[x])\n"
      "lb %[w1], 1(%[w])\n"
      "add %[sum3], %[sum3], %[product]\n"
      "mul %[x0], %[x0], %[w0]\n"
      "lb %[x2], 2(%[x])\n"
      "lb %[w2], 2(%[w])\n"
      "mul %[x1], %[x1], %[w1]\n"
      "lb %[product], 3(%[x])\n"
      "lb %[w1], 3(%[w])\n"
      "add %[sum0], %[sum0], %[x0]\n"
      "mul %[x2], %[x2], %[w2]\n"
      "add %[sum1], %[sum1], %[x1]\n"
      "add %[x], %[x], %[x_step]\n"
      "add %[w], %[w], %[w_step]\n"
      "mul %[product], %[product], %[w1]\n"
      "add %[sum2], %[sum2], %[x2]\n"
      "addi %[left], %[left], -1\n"
      "bnez %[left], 2b\n"
      "add %[x], %[x], %[next]\n"
      "addi %[rows], %[rows], -1\n"
      "bnez %[rows], 1b\n"
      "add %[sum3], %[sum3], %[product]\n"
      : [x] "+&r"(x), [w] "+&r"(w), [sum0] "+&r"(sum0), [sum1] "+&r"(sum1), [sum2] "+&r"(sum2), [sum3] "+&r"(sum3), [rows] "+&r"(rows),
        [left] "=&r"(left), [product] "+&r"(product), [x0] "=&r"(x0), [x1] "=&r"(x1), [x2] "=&r"(x2), [w0] "=&r"(w0), [w1] "=&r"(w1),
        [w2] "=&r"(w2)
      : [columns] "r"(window[1]), [next] "r"(window[2]), [x_step] "r"(window[3]), [w_step] "r"(window[4])
      : "memory");
#else
  for (int32_t ky = window[0]; ky > 0; --ky) {
    for (int32_t kx = window[1]; kx > 0; --kx) {
      sum0 += x[0] * w[0];
      sum1 += x[1] * w[1];
      sum2 += x[2] * w[2];
      sum3 += x[3] * w[3];
      x += window[3];
      w += window[4];
    }
    x += window[2];
  }
#endif
  sums[0] = sum0;
  sums[1] = sum1;
  sums[2] = sum2;
  sums[3] = sum3;
#endif
}
