// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Fills elements, by words from the first aligned one on. */
#if defined(__riscv) && __riscv_xlen == 32 && !defined(__riscv_32e) && !defined(__riscv_e)
__attribute__((naked, noinline)) static void kiln_fill(__attribute__((unused)) int8_t* to, __attribute__((unused)) int32_t value, __attribute__((unused)) int32_t count) {
  __asm__ volatile(
      "4:\n"
      "andi t0, a0, 3\n"
      "beqz t0, 5f\n"
      "beqz a2, 3f\n"
      "sb a1, 0(a0)\n"
      "addi a0, a0, 1\n"
      "addi a2, a2, -1\n"
      "j 4b\n"
      "5:\n"
      "andi t0, a1, 255\n"
      "slli t1, t0, 8\n"
      "or t0, t0, t1\n"
      "slli t1, t0, 16\n"
      "or t0, t0, t1\n"
      "li t1, 16\n"
      "bltu a2, t1, 2f\n"
      "1:\n"
      "sw t0, 0(a0)\n"
      "sw t0, 4(a0)\n"
      "sw t0, 8(a0)\n"
      "sw t0, 12(a0)\n"
      "addi a0, a0, 16\n"
      "addi a2, a2, -16\n"
      "bgeu a2, t1, 1b\n"
      "2:\n"
      "beqz a2, 3f\n"
      "sb a1, 0(a0)\n"
      "addi a0, a0, 1\n"
      "addi a2, a2, -1\n"
      "j 2b\n"
      "3:\n"
      "ret\n"
  );
}
#else
static void kiln_fill(int8_t* to, int32_t value, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    to[i] = (int8_t)value;
  }
}
#endif
