// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Bytes 0 and 2 as two integers of 16 bits. */
static inline int32_t kiln_sxtb16(int32_t bytes) {
#if defined(__ARM_FEATURE_DSP)
  int32_t result;
  __asm__("sxtb16 %0, %1" : "=r"(result) : "r"(bytes));
  return result;
#else
  return (int32_t)(((uint32_t)(int8_t)bytes & 0xffffu) | (uint32_t)(int8_t)(bytes >> 16) << 16);
#endif
}
