// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Limits a value to [-128, 127]. */
static inline int32_t kiln_saturate_8(int32_t value) {
#if defined(__ARM_FEATURE_SAT) && __ARM_ARCH_ISA_THUMB >= 2 /* Clang defines the first for Cortex-M23, too. */
  int32_t result;
  __asm__("ssat %0, #8, %1" : "=r"(result) : "r"(value));
  return result;
#elif defined(__thumb__) && __ARM_ARCH_ISA_THUMB == 1
  /* One branch, and no constants in registers: Clang would make two comparisons of the line below. */
  int32_t result;
  __asm__(
      ".syntax unified\n"
      "sxtb %0, %1\n"
      "cmp %0, %1\n"
      "beq 1f\n"
      "asrs %0, %1, #31\n"
      "mvns %0, %0\n"
      "lsrs %0, %0, #24\n"
      "subs %0, #128\n"
      "1:\n"
      : "=&l"(result)
      : "l"(value)
      : "cc");
  return result;
#elif defined(__riscv)
  if ((uint32_t)value + 128u > 255u) {
    /* Clang would make two comparisons, because it knows what these lines compute. */
    __asm__("" : "+r"(value));
    value = (value >> 31) ^ 127;
  }
  return value;
#else
  return (uint32_t)value + 128u <= 255u ? value : (value >> 31) ^ 127;
#endif
}
