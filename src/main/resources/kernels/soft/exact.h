// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_soft_exact
#define UNPACK kiln_soft_exact_unpack
#define SPECIAL kiln_soft_exact_special
#define PRODUCT (int32_t)((int64_t)weight * (int32_t)(significand << 7) >> 32)

/* The exponent of a number that is too small for a float's normal ones, and its significand of 24 bits. */
static __attribute__((noinline)) int32_t UNPACK(uint32_t bits, uint32_t* significand) {
  int32_t field = 1;
  for (*significand = bits & 0x7fffffu; *significand < 0x800000u; *significand <<= 1) {
    --field;
  }
  return field;
}

/* The sum of products of which one is infinite or NaN: an exponent beyond all floats, or that of NaN. */
static __attribute__((noinline)) int64_t SPECIAL(
    const float* in, int32_t step, const int32_t* w, int32_t weight_step, int32_t taps, int32_t* exponent) {
  uint32_t found = 0;
  for (int32_t i = 0; i < taps; ++i) {
    const union { float value; uint32_t bits; } x = {in[i * step]};
    if ((x.bits & 0x7f800000u) == 0x7f800000u) {
      const int32_t weight = w[i * weight_step] >> 5;
      const int32_t is_nan = (x.bits & 0x7fffffu) != 0 || weight == 0;
      found |= is_nan ? 3u : ((int32_t)x.bits < 0) == (weight < 0) ? 1u : 2u;
    }
  }
  *exponent = found == 3u ? 20000 : 10000;
  return found == 1u ? (int64_t)1 << 40 : -((int64_t)1 << 40);
}

/*
 * The sum of taps products with the exponent of the largest, which is added to *exponent. A weight is a word times 2 to minus its lowest 5 bits.
 * A product has 30 bits, of which it loses as many as it is smaller than the largest one.
 */
static __attribute__((noinline)) int64_t NAME(
    const float* in, int32_t step, const int32_t* w, int32_t weight_step, int32_t taps, int32_t* exponent) {
  int32_t top = -300;
  for (int32_t i = 0; i < taps; ++i) {
    const union { float value; uint32_t bits; } x = {in[i * step]};
    const int32_t weight = w[i * weight_step];
    int32_t place = (int32_t)(x.bits >> 23 & 255u) - (weight & 31);
    if (place > top && x.bits << 1 != 0 && weight >> 5 != 0) {
      if (x.bits << 1 < 0x1000000u) {
        uint32_t significand;
        place = UNPACK(x.bits, &significand) - (weight & 31);
      }
      top = place > top ? place : top;
    }
  }
  int64_t sum = 0;
  for (int32_t i = 0; i < taps; ++i) {
    const union { float value; uint32_t bits; } x = {in[i * step]};
    const int32_t weight = w[i * weight_step];
    int32_t field = (int32_t)(x.bits >> 23 & 255u);
    uint32_t significand = (x.bits & 0x7fffffu) | 0x800000u;
    if ((uint32_t)field - 1u >= 254u) {
      if (field == 255) {
        return SPECIAL(in, step, w, weight_step, taps, exponent);
      }
      if (x.bits << 1 == 0) {
        continue;
      }
      field = UNPACK(x.bits, &significand);
    }
    const uint32_t below = (uint32_t)(top - field + (weight & 31));
    if (below < 31u) {
      const int32_t product = PRODUCT;
      const int32_t sign = (int32_t)x.bits >> 31;
      sum += ((product >> below) ^ sign) - sign;
    }
  }
  *exponent += top;
  return sum;
}
