// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Limits a value to [-65536, 65535]. */
static inline int32_t kiln_saturate_17(int32_t value) {
#if defined(__ARM_FEATURE_SAT) && __ARM_ARCH_ISA_THUMB >= 2 /* Clang defines the first for Cortex-M23, too. */
  int32_t result;
  __asm__("ssat %0, #17, %1" : "=r"(result) : "r"(value));
  return result;
#else
  return (uint32_t)value + 65536u <= 131071u ? value : (value >> 31) ^ 65535;
#endif
}
