/* SPDX-License-Identifier: Apache-2.0
 *
 * Single precision functions of math.h.
 */
#include <stdint.h>

#include "kiln_bits.h"
#include "kiln_shims.h"

float SHIM(fabsf)(float x) {
  return of_bits(bits_of(x) & ~SIGN);
}

float SHIM(copysignf)(float magnitude, float sign) {
  return of_bits((bits_of(magnitude) & ~SIGN) | (bits_of(sign) & SIGN));
}

float SHIM(truncf)(float x) {
  uint32_t bits = bits_of(x);
  int exponent = (int)((bits >> 23) & 0xffu) - 127;
  if (exponent < 0) {
    return of_bits(bits & SIGN);
  }
  return exponent >= 23 ? x : of_bits(bits & ~(FRACTION >> exponent));
}

float SHIM(floorf)(float x) {
  float whole = SHIM(truncf)(x);
  return whole > x ? whole - 1.0f : whole;
}

float SHIM(ceilf)(float x) {
  float whole = SHIM(truncf)(x);
  return SHIM(copysignf)(whole < x ? whole + 1.0f : whole, x);
}

float SHIM(roundf)(float x) {
  float whole = SHIM(truncf)(x);
  if (SHIM(fabsf)(x - whole) >= 0.5f) {
    whole += SHIM(copysignf)(1.0f, x);
  }
  return SHIM(copysignf)(whole, x);
}

/* Adding and taking away 2^23 leaves no bits behind the point, rounded as the mode says. */
float SHIM(rintf)(float x) {
  const float places = 8388608.0f;
  volatile float shifted;
  if (!(SHIM(fabsf)(x) < places)) {
    return x;
  }
  shifted = SHIM(fabsf)(x) + places;
  return SHIM(copysignf)(shifted - places, x);
}

float SHIM(nearbyintf)(float x) {
  return SHIM(rintf)(x);
}

long SHIM(lroundf)(float x) {
  return (long)SHIM(roundf)(x);
}

long SHIM(lrintf)(float x) {
  return (long)SHIM(rintf)(x);
}

float SHIM(fmaxf)(float a, float b) {
  if (a != a) {
    return b;
  }
  return b > a ? b : a;
}

float SHIM(fminf)(float a, float b) {
  if (a != a) {
    return b;
  }
  return b < a ? b : a;
}

/* The root of an integer of twice the digits, digit by digit. */
float SHIM(sqrtf)(float x) {
  uint32_t bits = bits_of(x);
  if ((bits & ~SIGN) == 0u || bits == INFINITE || (bits & ~SIGN) > INFINITE) {
    return x;
  }
  if ((bits & SIGN) != 0u) {
    return of_bits(0x7fc00000u);
  }
  int exponent = (int)(bits >> 23);
  uint32_t significand = bits & FRACTION;
  if (exponent == 0) {
    int left = SHIM(__clzsi2)(significand) - 8;
    significand <<= left;
    exponent = 1 - left;
  } else {
    significand |= FRACTION + 1u;
  }
  int power = exponent - 127;
  if ((power & 1) != 0) {
    significand <<= 1;
    --power;
  }
  /* significand / 2^23 is in [1, 4): 25 digits of its root, two of its own digits for each; 24 stay and one is to round by. */
  uint32_t root = 0;
  uint32_t rest = 0;
  for (int digit = 0; digit < 25; ++digit) {
    uint32_t pair = 0;
    if (digit < 12) {
      pair = (significand >> (23 - 2 * digit)) & 3u;
    } else if (digit == 12) {
      pair = (significand << 1) & 3u;
    }
    rest = (rest << 2) | pair;
    uint32_t trial = (root << 2) | 1u;
    root <<= 1;
    if (rest >= trial) {
      rest -= trial;
      root |= 1u;
    }
  }
  uint32_t rounded = (root >> 1) + (root & 1u);
  return of_bits(((uint32_t)(power / 2 + 127 - 1) << 23) + rounded);
}

/*
 * e^x = 2^n * e^r with n the integer nearest to x / ln 2 and |r| <= ln 2 / 2; e^r by its series, whose ninth term is below half a unit in
 * the last place. ln 2 is taken in two parts so that n times the first is exact.
 */
float SHIM(expf)(float x) {
  if (x != x) {
    return x;
  }
  if (x > 88.72284f) {
    return of_bits(INFINITE);
  }
  if (x < -103.97208f) {
    return 0.0f;
  }
  float n = SHIM(rintf)(x * 1.44269504f);
  float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float tail = 1.0f / 5040.0f;
  tail = tail * r + 1.0f / 720.0f;
  tail = tail * r + 1.0f / 120.0f;
  tail = tail * r + 1.0f / 24.0f;
  tail = tail * r + 1.0f / 6.0f;
  tail = tail * r + 0.5f;
  float power = tail * r * r + r + 1.0f;
  /* In two steps, because 2^n itself may be too large or too small for a float. */
  int half = (int)n / 2;
  int other = (int)n - half;
  return power * of_bits((uint32_t)(half + 127) << 23) * of_bits((uint32_t)(other + 127) << 23);
}
