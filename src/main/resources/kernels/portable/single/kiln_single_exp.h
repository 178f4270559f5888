// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_round_24.h"
#include "kiln_single_fma.h"

/*
 * The bits of the exponential of -distance * 2^exponent, by a range reduction and a polynomial in single precision, each step
 * rounded once. The distance has up to 24 bits from its highest one on.
 */
static inline uint32_t kiln_single_exp(uint64_t distance, int32_t exponent) {
  static const uint32_t coefficients[] = {0x3c092f6eu, 0x3d2aadadu, 0x3e2aaa28u, 0x3efffffbu, 0x3f800000u, 0x3f800000u};
  if (distance == 0u) {
    return 0x3f800000u;
  }
  const uint32_t normal = kiln_single(distance, exponent);
  if (normal >= 0x43000000u) {
    return 0u;
  }
  uint32_t mantissa = (normal & 0x7fffffu) | 0x800000u;
  exponent = (int32_t)(normal >> 23) - 150;
  int32_t sign = -1;
  const uint32_t power =
      exponent < -39 ? 0u : (uint32_t)kiln_round_even((uint64_t)mantissa * 0xb8aa3bu, 23 - exponent);
  if (power != 0u) {
    const int64_t high = ((int64_t)power * 0x162e4 << 26) - ((int64_t)mantissa << (exponent + 43));
    const int64_t first = high < 0 ? -(int64_t)kiln_round_24((uint64_t)-high) : (int64_t)kiln_round_24((uint64_t)high);
    const int64_t rest = first + (int64_t)power * 0xbfbe8e;
    const uint32_t rounded = rest == 0 ? 0u : kiln_single((uint64_t)(rest < 0 ? -rest : rest), -43);
    sign = rest < 0 ? -1 : 1;
    mantissa = rest == 0 ? 0u : (rounded & 0x7fffffu) | 0x800000u;
    exponent = (int32_t)(rounded >> 23) - 150;
  }
  uint32_t result = 0x3ab4a000u;
  for (int32_t i = 0; i < 6; ++i) {
    result = kiln_single_fma(result, mantissa, exponent, sign, coefficients[i]);
  }
  return result >> 23 > power ? result - (power << 23) : 0u;
}
