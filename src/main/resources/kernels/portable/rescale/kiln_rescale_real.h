// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "../kiln_leading_zeros.h"

/*
 * value * multiplier * 2^(11 - shift) for shift from 33 to 127 as double precision computes it, limited to [-2^30, 2^30]: the product is rounded to 53
 * bits, then to an integer, halves away from zero. The value has at most 53 bits, the multiplier 53 bits, or is 0.
 *
 * The first rounding counts only where it lifts a product to a half. So half of the unit in its last place is added, and nothing is cut off.
 */
static inline int32_t kiln_rescale_real(int64_t value, int64_t multiplier, int32_t shift) {
  const uint64_t word = 0xffffffffu;
  const uint64_t left = value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value;
  const uint64_t right = (uint64_t)multiplier << 11;
  uint64_t low = (left & word) * (right & word);
  const uint64_t middle = (left >> 32) * (right & word) + (low >> 32);
  const uint64_t upper = (left & word) * (right >> 32) + (middle & word);
  uint64_t high = (left >> 32) * (right >> 32) + (middle >> 32) + (upper >> 32);
  low = (upper << 32) | (low & word);
  const uint32_t top = (uint32_t)(high >> 32);
  const int32_t length = top != 0u ? 64 - kiln_leading_zeros(top) : high != 0u ? 32 - kiln_leading_zeros((uint32_t)high) : 0;
  const uint64_t lift = (uint64_t)1 << (10 + length);
  low += lift;
  high += low < lift ? 1u : 0u;
  if (shift > 64) {
    high += (uint64_t)1 << (shift - 65);
  } else {
    const uint64_t half = (uint64_t)1 << (shift - 1);
    low += half;
    high += low < half ? 1u : 0u;
  }
  const uint64_t most = (uint64_t)1 << 30;
  uint64_t rounded = most;
  if (shift >= 64) {
    rounded = high >> (shift - 64);
  } else if ((high >> shift) == 0u) {
    rounded = (high << (64 - shift)) | (low >> shift);
  }
  const int32_t limited = rounded > most ? (int32_t)most : (int32_t)rounded;
  return value < 0 ? -limited : limited;
}
