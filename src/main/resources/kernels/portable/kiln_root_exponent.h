// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_leading_zeros.h"

/* 11, and half the bits by which x is shifted right to lie in [2^27, 2^29); 0 for x <= 1. */
static inline int32_t kiln_root_exponent(int32_t x) {
  return x <= 1 ? 0 : 12 - (kiln_leading_zeros((uint32_t)x) - 1) / 2;
}
