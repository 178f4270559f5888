// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_soft_zeros.h"

/* The float of which first * 2^exponent is too large or too small for the usual one, first from 2^31 on; from an exponent of 15000 on, NaN. */
static __attribute__((noinline)) uint32_t kiln_soft_extreme(uint32_t first, int32_t exponent) {
  if (exponent >= -157) {
    return exponent < 15000 ? 0x7f800000u : 0x7fc00000u;
  }
  return exponent < -182 ? 0u : ((first >> (-158 - exponent) >> 8) + 1u) >> 1;
}

/*
 * sum * 2^exponent + start, rounded to the nearest float and then limited to numbers of which the order of their bits is given;
 * without instructions or functions for floats. Before, both are rounded down to 30 bits, or to multiples of 2^-155. start is finite.
 */
static __attribute__((noinline)) float kiln_soft_result(
    int64_t sum, int32_t exponent, float start, int32_t low, int32_t high) {
  const union { float value; uint32_t bits; } from = {start};
  const int32_t field = (int32_t)(from.bits >> 23 & 255u);
  const int32_t magnitude = (int32_t)((from.bits & 0x7fffffu) | (field == 0 ? 0u : 0x800000u)) << 6;
  const int32_t start_exponent = (field == 0 ? 1 : field) - 156;
  const int32_t start_part = (int32_t)from.bits < 0 ? -magnitude : magnitude;
  if (sum >> 32 == sum >> 63) {
    sum = (int64_t)((uint64_t)sum << 31);
    exponent -= 31;
  }
  const int32_t upper = (int32_t)(sum >> 32);
  const uint32_t upper_magnitude = (uint32_t)(upper ^ (upper >> 31));
  int32_t both = start_part;
  if (upper_magnitude != 0) {
    const int32_t zeros = kiln_soft_zeros(upper_magnitude) - 1;
    const uint32_t next = (uint32_t)((uint64_t)sum & 0xffffffffu) >> 1 >> (31 - zeros);
    const int32_t normal = (int32_t)((uint32_t)upper << zeros | next) >> 1;
    exponent += 33 - zeros;
    const int32_t apart = exponent - start_exponent;
    if (apart >= 0) {
      both = normal + (start_part >> (apart < 31 ? apart : 31));
    } else {
      both = start_part + (normal >> (apart > -31 ? -apart : 31));
      exponent = start_exponent;
    }
  } else {
    exponent = start_exponent;
  }
  union { uint32_t bits; float value; } result = {0};
  if (both != 0) {
    const uint32_t sign = (uint32_t)both & 0x80000000u;
    uint32_t first = both < 0 ? 0u - (uint32_t)both : (uint32_t)both;
    const int32_t zeros = kiln_soft_zeros(first);
    first <<= zeros;
    exponent -= zeros;
    if (exponent < -157 || exponent > 96) {
      result.bits = kiln_soft_extreme(first, exponent);
      if (result.bits == 0x7fc00000u) {
        return result.value;
      }
    } else {
      result.bits = ((uint32_t)(exponent + 157) << 23) + (first >> 8) + (first >> 7 & 1u);
    }
    result.bits |= sign;
  }
  const int32_t signed_bits = (int32_t)result.bits;
  const int32_t order = signed_bits < 0 ? signed_bits ^ INT32_MAX : signed_bits;
  const int32_t limited = order < low ? low : order > high ? high : order;
  result.bits = (uint32_t)(limited < 0 ? limited ^ INT32_MAX : limited);
  return result.value;
}
