// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_round_24.h"
#include "kiln_single_fma.h"

/* value / 2^(32 + more), halves to even. */
static inline uint32_t kiln_exp_round(uint64_t value, int32_t more) {
  const uint32_t high = (uint32_t)(value >> 32);
  const uint64_t below_half = ((uint64_t)0x80000000u << more) - 1u;
  return (uint32_t)((value + below_half + (high >> more & 1u)) >> 32) >> more;
}

/*
 * The bits of the exponential's polynomial for r = rest / 2^31, from -0.35 to -2^-8 or from 2^-8 to 0.35. For these the binade of each
 * step is known, so that the sum of a coefficient and an exact product is rounded at a constant place.
 */
static inline uint32_t kiln_exp_polynomial(int32_t rest) {
  const uint64_t r = (uint64_t)(int64_t)rest;
  uint32_t p = 0xb4a000u;
  p = kiln_exp_round(((uint64_t)0x892f6e << 34) + p * r, 2);
  p = kiln_exp_round(((uint64_t)0xaaadad << 33) + p * r, 1);
  p = kiln_exp_round(((uint64_t)0xaaaa28 << 33) + p * r, 1);
  p = kiln_exp_round(((uint64_t)0xfffffb << 32) + p * r, rest < 0 ? 0 : 1);
  p = kiln_exp_round(((uint64_t)1 << (rest < 0 ? 56 : 55)) + p * r, 0);
  p = kiln_exp_round((((uint64_t)1 << (rest < 0 ? 55 : 54)) + p * r) << 1, 0);
  return p + (rest < 0 ? 0x3e800000u : 0x3f000000u);
}

/* 2^-power times the polynomial; 0 for what is too small for a normal float. */
static inline uint32_t kiln_exp_scaled(int32_t rest, uint32_t power) {
  const uint32_t result = kiln_exp_polynomial(rest);
  return result >> 23 > power ? result - (power << 23) : 0u;
}

/*
 * The bits of the exponential of -distance * 2^exponent, by a range reduction and a polynomial in single precision, each step
 * rounded once. The distance has up to 24 bits from its highest one on.
 */
static inline uint32_t kiln_single_exp(uint64_t distance, int32_t exponent) {
  static const uint32_t coefficients[] = {0x3c092f6eu, 0x3d2aadadu, 0x3e2aaa28u, 0x3efffffbu, 0x3f800000u, 0x3f800000u};
  if (distance == 0u) {
    return 0x3f800000u;
  }
  if (exponent >= -40 && exponent <= -8 && distance >> 40 == 0u) {
    /* The usual scales. Shifts are constant if the exponent is. */
    if (distance >> (7 - exponent) != 0u) {
      return 0u;
    }
    const uint32_t power = (uint32_t)kiln_round_even(distance * 0xb8aa3bu, 23 - exponent);
    /* Units of 2^-43. For a power of at least 1, single precision has all bits of the difference of the first two. */
    const int64_t exact =
        (int64_t)((uint64_t)power * ((uint64_t)0x162e4 << 26) - (distance << (exponent + 43)) + (uint64_t)power * 0xbfbe8eu);
    const uint64_t magnitude = (uint64_t)(exact < 0 ? -exact : exact);
    const uint32_t word = (uint32_t)(magnitude >> 11);
    if (word >> 24 != 0u) {
      const uint32_t more = (uint32_t)kiln_bits(word) - 13u;
      const uint32_t lost = ((uint32_t)1 << more) - 1u;
      const uint32_t odd = word >> (more - 11u) & 1u;
      const int32_t rest = (int32_t)(((magnitude + (lost >> 1) + odd) >> 12) & ~(uint64_t)(lost >> 12));
      return kiln_exp_scaled(exact < 0 ? -rest : rest, power);
    }
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
  if (exponent >= -31) {
    const int32_t magnitude = (int32_t)(mantissa << (exponent + 31));
    return kiln_exp_scaled(sign < 0 ? -magnitude : magnitude, power);
  }
  uint32_t result = 0x3ab4a000u;
  for (int32_t i = 0; i < 6; ++i) {
    result = kiln_single_fma(result, mantissa, exponent, sign, coefficients[i]);
  }
  return result >> 23 > power ? result - (power << 23) : 0u;
}
