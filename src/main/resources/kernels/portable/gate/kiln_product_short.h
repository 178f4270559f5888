// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* The product of two numbers in units of 2^-15, rounded. */
static inline int32_t kiln_product_short(int32_t a, int32_t b) {
  return (a * b + 16384) >> 15;
}
