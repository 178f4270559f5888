// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_sxtb16.h"

/* Bytes 1 and 3 as two integers of 16 bits. */
static inline int32_t kiln_sxtb16_odd(int32_t bytes) {
#if defined(__ARM_FEATURE_DSP)
  int32_t result;
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(result) : "r"(bytes));
  return result;
#else
  return kiln_sxtb16((int32_t)((uint32_t)bytes >> 8));
#endif
}
