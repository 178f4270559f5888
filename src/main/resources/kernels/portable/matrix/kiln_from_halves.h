// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* The sum whose lower word is low, and which is at least 2^16 * high and less than 2^32 more. */
static inline int64_t kiln_from_halves(uint32_t low, int32_t high) {
  const int64_t least = (int64_t)high * 65536;
  return least + (int64_t)(uint32_t)(low - (uint32_t)least);
}
