// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Copies elements, which do not overlap, by words where both sides are aligned. */
#if defined(__riscv) && __riscv_xlen == 32 && !defined(__riscv_32e) && !defined(__riscv_e)
__attribute__((naked, noinline)) static void kiln_copy_elements(__attribute__((unused)) const int8_t* from, __attribute__((unused)) int8_t* to, __attribute__((unused)) int32_t count) {
  __asm__ volatile(
      "or t0, a0, a1\n"
      "andi t0, t0, 3\n"
      "bnez t0, 3f\n"
      "li t0, 32\n"
      "bltu a2, t0, 2f\n"
      "1:\n"
      "lw t1, 0(a0)\n"
      "lw t2, 4(a0)\n"
      "lw t3, 8(a0)\n"
      "lw t4, 12(a0)\n"
      "lw t5, 16(a0)\n"
      "lw t6, 20(a0)\n"
      "lw a3, 24(a0)\n"
      "lw a4, 28(a0)\n"
      "sw t1, 0(a1)\n"
      "sw t2, 4(a1)\n"
      "sw t3, 8(a1)\n"
      "sw t4, 12(a1)\n"
      "sw t5, 16(a1)\n"
      "sw t6, 20(a1)\n"
      "sw a3, 24(a1)\n"
      "sw a4, 28(a1)\n"
      "addi a0, a0, 32\n"
      "addi a1, a1, 32\n"
      "addi a2, a2, -32\n"
      "bgeu a2, t0, 1b\n"
      "2:\n"
      "li t0, 4\n"
      "bltu a2, t0, 3f\n"
      "lw t1, 0(a0)\n"
      "sw t1, 0(a1)\n"
      "addi a0, a0, 4\n"
      "addi a1, a1, 4\n"
      "addi a2, a2, -4\n"
      "j 2b\n"
      "3:\n"
      "beqz a2, 4f\n"
      "lb t1, 0(a0)\n"
      "sb t1, 0(a1)\n"
      "addi a0, a0, 1\n"
      "addi a1, a1, 1\n"
      "addi a2, a2, -1\n"
      "j 3b\n"
      "4:\n"
      "ret\n"
  );
}
#else
static void kiln_copy_elements(const int8_t* from, int8_t* to, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    to[i] = from[i];
  }
}
#endif
