// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "../rescale/kiln_round_even.h"

/* The nearest number that float16 holds, halves to even; infinity from 65520 on. */
static inline float kiln_round_float16(float value) {
  union {
    float real;
    uint32_t bits;
  } same = {value};
  const uint32_t sign = same.bits & 0x80000000u;
  const uint32_t magnitude = same.bits & 0x7fffffffu;
  if (magnitude >= 0x7f800000u) {
    return value;
  }
  if (magnitude >= 0x38800000u) {
    const uint32_t rounded = (magnitude + 0xfffu + (magnitude >> 13 & 1u)) & ~0x1fffu;
    same.bits = sign | (rounded >= 0x47800000u ? 0x7f800000u : rounded);
    return same.real;
  }
  /* Subnormal numbers are multiples of 2^-24. */
  const uint32_t exponent = magnitude >> 23;
  const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const uint32_t units = exponent < 102u ? 0u : (uint32_t)kiln_round_even(mantissa, (int32_t)(126u - exponent));
  same.real = (float)units * 5.9604644775390625e-8f;
  same.bits |= sign;
  return same.real;
}
