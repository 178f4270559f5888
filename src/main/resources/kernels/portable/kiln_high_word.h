// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* floor(a * b / 2^32) */
static inline int32_t kiln_high_word(int32_t a, int32_t b) {
#if defined(__ARM_ARCH_6M__)
  /* Without a long multiply: halves by halves; no sum leaves 32 bits. */
  const int32_t a_low = a & 0xffff;
  const int32_t b_low = b & 0xffff;
  const uint32_t low = (uint32_t)a_low * (uint32_t)b_low;
  const int32_t first = (a >> 16) * b_low + (int32_t)(low >> 16);
  const int32_t second = a_low * (b >> 16) + (first & 0xffff);
  return (a >> 16) * (b >> 16) + (first >> 16) + (second >> 16);
#else
  return (int32_t)(((int64_t)a * b) >> 32);
#endif
}
