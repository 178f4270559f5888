/* SPDX-License-Identifier: Apache-2.0
 *
 * Single precision functions of math.h that are approximated: logarithm, circular and hyperbolic functions, error function, remainder.
 */
#include <stdint.h>

#include "kiln_bits.h"
#include "kiln_shims.h"

/* Exponent and significand of a finite number that is not 0: value = significand * 2^exponent, 2^23 <= significand < 2^24. */
static int split(uint32_t bits, uint32_t* significand) {
  int exponent = (int)((bits >> 23) & 0xffu);
  uint32_t fraction = bits & FRACTION;
  if (exponent == 0) {
    int left = SHIM(__clzsi2)(fraction) - 8;
    *significand = fraction << left;
    return 1 - left - 150;
  }
  *significand = fraction | (FRACTION + 1u);
  return exponent - 150;
}

/* Exact: the remainders of the significand's digits, one binary digit after the other. */
float SHIM(fmodf)(float x, float y) {
  uint32_t sign = bits_of(x) & SIGN;
  uint32_t a = bits_of(x) & ~SIGN;
  uint32_t b = bits_of(y) & ~SIGN;
  if (b == 0u || a >= INFINITE || b > INFINITE) {
    return of_bits(QUIET_NAN);
  }
  if (a < b) {
    return x;
  }
  uint32_t rest;
  uint32_t divisor;
  int exponent = split(a, &rest);
  int last = split(b, &divisor);
  for (;;) {
    if (rest >= divisor) {
      rest -= divisor;
    }
    if (exponent == last || rest == 0u) {
      break;
    }
    rest <<= 1;
    --exponent;
  }
  if (rest == 0u) {
    return of_bits(sign);
  }
  int left = SHIM(__clzsi2)(rest) - 8;
  rest <<= left;
  exponent = last + 150 - left;
  if (exponent > 0) {
    return of_bits(sign | (uint32_t)exponent << 23 | (rest & FRACTION));
  }
  return of_bits(sign | rest >> (1 - exponent));
}

/*
 * ln x = k ln 2 + ln m with m between the roots of 1/2 and 2; ln m = 2 artanh s with s = (m - 1) / (m + 1), |s| < 0.172, by its series. ln 2
 * is taken in two parts so that k times the first is exact.
 */
float SHIM(logf)(float x) {
  uint32_t bits = bits_of(x);
  if ((bits & ~SIGN) == 0u) {
    return of_bits(SIGN | INFINITE);
  }
  if ((bits & ~SIGN) > INFINITE || bits == INFINITE) {
    return x;
  }
  if ((bits & SIGN) != 0u) {
    return of_bits(QUIET_NAN);
  }
  uint32_t significand;
  int k = split(bits, &significand) + 23;
  float m = of_bits((127u << 23) | (significand & FRACTION));
  if (m > 1.41421356f) {
    m *= 0.5f;
    ++k;
  }
  float f = m - 1.0f;
  float s = f / (m + 1.0f);
  float square = s * s;
  float tail = 2.0f / 9.0f;
  tail = tail * square + 2.0f / 7.0f;
  tail = tail * square + 2.0f / 5.0f;
  tail = tail * square + 2.0f / 3.0f;
  float ln = 2.0f * s + s * square * tail;
  return (float)k * 0.693359375f + (ln - (float)k * 2.12194440e-4f);
}

/* e^x - 1: by its series where the 1 would cancel. */
float SHIM(expm1f)(float x) {
  if (!(SHIM(fabsf)(x) < 0.5f)) {
    return SHIM(expf)(x) - 1.0f;
  }
  float tail = 1.0f / 40320.0f;
  tail = tail * x + 1.0f / 5040.0f;
  tail = tail * x + 1.0f / 720.0f;
  tail = tail * x + 1.0f / 120.0f;
  tail = tail * x + 1.0f / 24.0f;
  tail = tail * x + 1.0f / 6.0f;
  tail = tail * x + 0.5f;
  return x + x * x * tail;
}

/* 1 - 2 / (e^2x + 1), without cancellation. */
float SHIM(tanhf)(float x) {
  float magnitude = SHIM(fabsf)(x);
  if (magnitude > 9.5f) {
    return SHIM(copysignf)(1.0f, x);
  }
  float e = SHIM(expm1f)(2.0f * magnitude);
  return magnitude != magnitude ? x : SHIM(copysignf)(e / (e + 2.0f), x);
}

/*
 * The error function: up to 1 by its series; beyond, 1 - e^-x^2 times a polynomial in 1 / (1 + 0.3275911 x), within 1.5e-7 (Hastings; Abramowitz
 * and Stegun, 7.1.26).
 */
float SHIM(erff)(float x) {
  float magnitude = SHIM(fabsf)(x);
  if (magnitude != magnitude) {
    return x;
  }
  if (magnitude > 4.0f) {
    return SHIM(copysignf)(1.0f, x);
  }
  float square = x * x;
  if (magnitude < 1.0f) {
    float sum = 0.0f;
    float factorial = 3628800.0f;
    for (int n = 9; n > 0; --n) {
      factorial /= (float)-(n + 1);
      sum = (sum + 1.0f / (factorial * (float)(2 * n + 1))) * square;
    }
    return 1.12837917f * (x + x * sum);
  }
  float t = 1.0f / (1.0f + 0.3275911f * magnitude);
  float tail = 1.061405429f;
  tail = tail * t - 1.453152027f;
  tail = tail * t + 1.421413741f;
  tail = tail * t - 0.284496736f;
  tail = tail * t + 0.254829592f;
  return SHIM(copysignf)(1.0f - tail * t * SHIM(expf)(-square), x);
}

/* 2 / pi: 32 zeros, then its binary digits. */
static const uint32_t TWO_OVER_PI[] = {0u,          0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u,
                                       0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u, 0xb7246e3au};

/*
 * x = (n + r) pi / 2 with |r| <= 1/2; n modulo 4, and r pi / 2 in *angle. Of the digits of 2 / pi those count whose product with the
 * significand is below 4: 96 of them leave 70 behind the point. x is finite and not negative.
 */
static uint32_t quadrant(float x, float* angle) {
  const float half_pi = 1.57079633f;
  if (x < 0.785398163f) {
    *angle = x;
    return 0;
  }
  uint32_t significand;
  unsigned first = (unsigned)(split(bits_of(x), &significand) + 30);
  const uint32_t* digits = TWO_OVER_PI + first / 32u;
  unsigned shift = first % 32u;
  uint32_t window[3];
  for (int i = 0; i < 3; ++i) {
    window[i] = shift == 0u ? digits[i] : digits[i] << shift | digits[i + 1] >> (32u - shift);
  }
  uint64_t low = (uint64_t)significand * window[2];
  uint64_t middle = (uint64_t)significand * window[1] + (low >> 32);
  uint32_t high = significand * window[0] + (uint32_t)(middle >> 32);
  uint64_t turns = (uint64_t)high << 32 | (uint32_t)middle;
  uint64_t n = (turns + ((uint64_t)1 << 61)) >> 62;
  uint64_t rest = turns - (n << 62);
  int negative = (rest >> 63) != 0u;
  uint64_t magnitude = negative ? 0u - rest : rest;
  float scale = 1.0f;
  /* The upper digits alone become a float; those that are 0 make room for lower ones. */
  while (magnitude != 0u && (magnitude >> 32) < 0x20000000u) {
    magnitude <<= 1;
    scale *= 0.5f;
  }
  float r = (float)(uint32_t)(magnitude >> 32) * (1.0f / 1073741824.0f) * scale;
  *angle = (negative ? -r : r) * half_pi;
  return (uint32_t)n & 3u;
}

/* Up to a quarter of pi, by their series. */
static float small_sin(float x) {
  float square = x * x;
  float tail = 1.0f / 362880.0f;
  tail = tail * square - 1.0f / 5040.0f;
  tail = tail * square + 1.0f / 120.0f;
  tail = tail * square - 1.0f / 6.0f;
  return x + x * square * tail;
}

static float small_cos(float x) {
  float square = x * x;
  float tail = -1.0f / 3628800.0f;
  tail = tail * square + 1.0f / 40320.0f;
  tail = tail * square - 1.0f / 720.0f;
  tail = tail * square + 1.0f / 24.0f;
  tail = tail * square - 0.5f;
  return 1.0f + square * tail;
}

static float circular(float x, uint32_t turned) {
  float angle;
  if (!(x < of_bits(INFINITE))) {
    return of_bits(QUIET_NAN);
  }
  uint32_t n = quadrant(x, &angle) + turned;
  float value = (n & 1u) != 0u ? small_cos(angle) : small_sin(angle);
  return (n & 2u) != 0u ? -value : value;
}

float SHIM(sinf)(float x) {
  float value = circular(SHIM(fabsf)(x), 0);
  return (bits_of(x) & SIGN) != 0u ? -value : value;
}

float SHIM(cosf)(float x) {
  return circular(SHIM(fabsf)(x), 1);
}
