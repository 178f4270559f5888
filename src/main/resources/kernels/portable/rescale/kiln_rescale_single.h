// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "../kiln_leading_zeros.h"
#include "kiln_round_even.h"

/*
 * value * multiplier / 2^shift for shift from 1 to 62 as single precision computes it, limited to [-2^30, 2^30]: value and
 * product are rounded to 24 bits, the result to an integer, halves to even. A multiplier has its leading bit in bit 30 and
 * no bits below bit 7, or is 0.
 */
static inline int32_t kiln_rescale_single(int32_t value, int32_t multiplier, int32_t shift) {
  uint64_t rounded = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
  int32_t exponent = 32 - kiln_leading_zeros((uint32_t)rounded | 1u) - 24;
  if (exponent > 0) {
    rounded = kiln_round_even(rounded, exponent) << exponent;
  }
  rounded *= (uint32_t)multiplier >> 7;
  exponent = (rounded >> 32) != 0u ? 40 - kiln_leading_zeros((uint32_t)(rounded >> 32))
                                   : 8 - kiln_leading_zeros((uint32_t)rounded | 1u);
  if (exponent > 0) {
    rounded = kiln_round_even(rounded, exponent) << exponent;
  }
  const int32_t right = shift - 7;
  if (right > 0) {
    rounded = kiln_round_even(rounded, right);
  } else {
    rounded = rounded > (1u << 30) ? 1u << 30 : rounded << -right;
  }
  const int32_t limited = rounded > (1u << 30) ? 1 << 30 : (int32_t)rounded;
  return value < 0 ? -limited : limited;
}
