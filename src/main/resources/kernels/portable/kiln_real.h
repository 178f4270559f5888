// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* A positive number of double precision, digits * 2^exponent, without floating point: 53 digits, the first of which is 1; or 0. */
struct kiln_real {
  uint64_t digits;
  int32_t exponent;
};

/* The nearest number, halves to even. Digits below the 54th only say whether they are all 0. */
static inline struct kiln_real kiln_real(uint64_t digits, int32_t exponent) {
  struct kiln_real number = {0u, 0};
  if (digits != 0u) {
    while ((digits >> 63) == 0u) {
      digits <<= 1;
      --exponent;
    }
    const uint64_t rest = digits & 2047u;
    number.digits = digits >> 11;
    number.exponent = exponent + 11;
    number.digits += rest > 1024u || (rest == 1024u && (number.digits & 1u) != 0u) ? 1u : 0u;
    if ((number.digits >> 53) != 0u) {
      number.digits >>= 1;
      ++number.exponent;
    }
  }
  return number;
}

/* The number of a finite float that is 0 or positive. */
static inline struct kiln_real kiln_real_of(float value) {
  const union {
    float value;
    uint32_t bits;
  } number = {value};
  const uint32_t fraction = number.bits & 0x7fffffu;
  const int32_t exponent = (int32_t)(number.bits >> 23);
  return exponent == 0 ? kiln_real(fraction, -149) : kiln_real(fraction | 0x800000u, exponent - 150);
}

static inline int kiln_real_less(struct kiln_real a, struct kiln_real b) {
  if (a.digits == 0u || b.digits == 0u) {
    return a.digits == 0u && b.digits != 0u;
  }
  return a.exponent != b.exponent ? a.exponent < b.exponent : a.digits < b.digits;
}

/* The larger plus the smaller number, or minus it. */
static inline struct kiln_real kiln_real_sum(struct kiln_real large, struct kiln_real small, int is_difference) {
  if (small.digits == 0u) {
    return large;
  }
  const int32_t right = large.exponent - small.exponent;
  const uint64_t whole = small.digits << 10;
  const uint64_t shifted =
      right > 62 ? 1u : (whole >> right) | ((whole & (((uint64_t)1 << right) - 1u)) != 0u ? 1u : 0u);
  const uint64_t digits = large.digits << 10;
  return kiln_real(is_difference ? digits - shifted : digits + shifted, large.exponent - 10);
}

static inline struct kiln_real kiln_real_quotient(struct kiln_real a, struct kiln_real b) {
  uint64_t rest = a.digits;
  uint64_t quotient = 0u;
  for (int32_t i = 0; i < 56; ++i) {
    quotient <<= 1;
    if (rest >= b.digits) {
      rest -= b.digits;
      quotient |= 1u;
    }
    rest <<= 1;
  }
  return kiln_real((quotient << 1) | (rest != 0u ? 1u : 0u), a.exponent - b.exponent - 56);
}
