// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Leading zero bits of a positive value. */
static inline int32_t kiln_leading_zeros(uint32_t value) {
  int32_t zeros = 0;
  while (value << zeros < 0x80000000u) {
    ++zeros;
  }
  return zeros;
}
