// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_copy_elements_n
#define COUNT 3
#define MOVES "lb t1, 0(a0)\nsb t1, 0(a1)\nlb t1, 1(a0)\nsb t1, 1(a1)\nlb t1, 2(a0)\nsb t1, 2(a1)\n"

/* Copies COUNT elements. */
#if defined(__riscv) && __riscv_xlen == 32 && !defined(__riscv_32e) && !defined(__riscv_e)
__attribute__((naked, noinline)) static void NAME(__attribute__((unused)) const int8_t* from, __attribute__((unused)) int8_t* to) {
  __asm__ volatile(
      MOVES
      "ret\n"
  );
}
#else
static void NAME(const int8_t* from, int8_t* to) {
  for (int32_t i = 0; i < COUNT; ++i) {
    to[i] = from[i];
  }
}
#endif
