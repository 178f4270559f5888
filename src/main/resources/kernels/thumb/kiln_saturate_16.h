// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Limits a value to [-32768, 32767]. */
static inline int32_t kiln_saturate_16(int32_t value) {
#if defined(__ARM_FEATURE_SAT) && __ARM_ARCH_ISA_THUMB >= 2 /* Clang defines the first for Cortex-M23, too. */
  int32_t result;
  __asm__("ssat %0, #16, %1" : "=r"(result) : "r"(value));
  return result;
#elif defined(__riscv)
  if ((uint32_t)value + 32768u > 65535u) {
    /* Clang would make two comparisons, because it knows what these lines compute. */
    __asm__("" : "+r"(value));
    value = (value >> 31) ^ 32767;
  }
  return value;
#else
  return (uint32_t)value + 32768u <= 65535u ? value : (value >> 31) ^ 32767;
#endif
}
