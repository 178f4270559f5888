// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* The high half of the product of two values. */
static inline uint64_t kiln_product_high(uint64_t a, uint64_t b) {
  const uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
  const uint64_t first = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
  const uint64_t second = (a & UINT32_MAX) * (b >> 32) + (first & UINT32_MAX);
  return (a >> 32) * (b >> 32) + (first >> 32) + (second >> 32);
}
