// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* value >> bits; 0 for bits other than 0 to 31. */
static inline uint32_t kiln_shift_right(uint32_t value, int32_t bits) {
  return (uint32_t)bits < 32u ? value >> bits : 0u;
}
