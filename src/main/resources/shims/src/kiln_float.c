/* SPDX-License-Identifier: Apache-2.0
 *
 * Single precision arithmetic in integers (IEEE 754 binary32, round to nearest, ties to even), for cores without an FPU. Subnormal
 * numbers are kept. A NaN that comes out is quiet, whatever went in.
 */
#include <stdint.h>

#include "kiln_bits.h"
#include "kiln_shims.h"

static int exponent_of(float_bits x) {
  return (int)((x >> 23) & 0xffu);
}

/* Right by any number of places; what falls out leaves a mark in the last bit. */
static uint32_t shift_sticky(uint32_t value, int places) {
  if (places <= 0) {
    return value;
  }
  if (places > 31) {
    return value != 0u ? 1u : 0u;
  }
  return (value >> places) | ((value << (32 - places)) != 0u ? 1u : 0u);
}

/*
 * The float nearest to significand / 2^30 * 2^(exponent - 127), where the significand has its first one in bit 30: 24 bits that stay,
 * 7 that are rounded.
 */
static float_bits round_and_pack(uint32_t sign, int exponent, uint32_t significand) {
  if (exponent >= 255) {
    return sign | INFINITE;
  }
  if (exponent <= 0) {
    significand = shift_sticky(significand, 1 - exponent);
    exponent = 1;
  }
  uint32_t rest = significand & 0x7fu;
  uint32_t rounded = (significand + 0x40u) >> 7;
  if (rest == 0x40u) {
    rounded &= ~1u;
  }
  /* The hidden bit, if it is there, adds one to the exponent; so does a carry out of the rounding. */
  return sign | (((uint32_t)(exponent - 1) << 23) + rounded);
}

/* As round_and_pack, for a significand below 2^31 with its first one anywhere. */
static float_bits normalize_and_pack(uint32_t sign, int exponent, uint32_t significand) {
  if (significand == 0u) {
    return sign;
  }
  int left = SHIM(__clzsi2)(significand) - 1;
  return round_and_pack(sign, exponent - left, significand << left);
}

/* Significand with its first one in bit 23, and the exponent that belongs to it; x is finite and not zero. */
static uint32_t unpack(float_bits x, int* exponent) {
  *exponent = exponent_of(x);
  if (*exponent != 0) {
    return (x & FRACTION) | HIDDEN;
  }
  int left = SHIM(__clzsi2)(x & FRACTION) - 8;
  *exponent = 1 - left;
  return (x & FRACTION) << left;
}

float_bits BUILTIN(fadd, __addsf3)(float_bits a, float_bits b) {
  if (is_nan(a) || is_nan(b)) {
    return QUIET_NAN;
  }
  if ((a & ~SIGN) < (b & ~SIGN)) {
    float_bits swapped = a;
    a = b;
    b = swapped;
  }
  if ((a & ~SIGN) == INFINITE) {
    return (b & ~SIGN) == INFINITE && a != b ? QUIET_NAN : a;
  }
  if ((b & ~SIGN) == 0u) {
    return (a & ~SIGN) == 0u ? (a & b) : a;
  }
  int ea;
  int eb;
  uint32_t sa = unpack(a, &ea) << 6;
  uint32_t sb = unpack(b, &eb) << 6;
  sb = shift_sticky(sb, ea - eb);
  if (((a ^ b) & SIGN) == 0u) {
    return normalize_and_pack(a & SIGN, ea + 1, sa + sb);
  }
  uint32_t difference = sa - sb;
  return difference == 0u ? 0u : normalize_and_pack(a & SIGN, ea + 1, difference);
}

float_bits BUILTIN(fsub, __subsf3)(float_bits a, float_bits b) {
  return BUILTIN(fadd, __addsf3)(a, b ^ SIGN);
}

float_bits BUILTIN(fmul, __mulsf3)(float_bits a, float_bits b) {
  uint32_t sign = (a ^ b) & SIGN;
  float_bits x = a & ~SIGN;
  float_bits y = b & ~SIGN;
  if (x > INFINITE || y > INFINITE || (x == INFINITE && y == 0u) || (y == INFINITE && x == 0u)) {
    return QUIET_NAN;
  }
  if (x == INFINITE || y == INFINITE) {
    return sign | INFINITE;
  }
  if (x == 0u || y == 0u) {
    return sign;
  }
  int ex;
  int ey;
  uint32_t sx = unpack(x, &ex);
  uint32_t sy = unpack(y, &ey);
  /* 24 x 24 bits: the product's first one is in bit 46 or 47. Its upper part keeps 31 bits, the rest leaves a mark. */
  uint64_t product = (uint64_t)sx * sy;
  uint32_t significand = (uint32_t)(product >> 17) | ((product & 0x1ffffu) != 0u ? 1u : 0u);
  return normalize_and_pack(sign, ex + ey - 126, significand);
}

float_bits BUILTIN(fdiv, __divsf3)(float_bits a, float_bits b) {
  uint32_t sign = (a ^ b) & SIGN;
  float_bits x = a & ~SIGN;
  float_bits y = b & ~SIGN;
  if (x > INFINITE || y > INFINITE || (x == INFINITE && y == INFINITE) || (x == 0u && y == 0u)) {
    return QUIET_NAN;
  }
  if (x == INFINITE || y == 0u) {
    return sign | INFINITE;
  }
  if (x == 0u || y == INFINITE) {
    return sign;
  }
  int ex;
  int ey;
  uint32_t rest = unpack(x, &ex);
  uint32_t divisor = unpack(y, &ey);
  if (rest < divisor) {
    rest <<= 1;
    --ex;
  }
  /* 1 <= rest / divisor < 2: one digit before the point, 30 behind it. */
  uint32_t quotient = 0;
  for (int digit = 0; digit < 31; ++digit) {
    quotient <<= 1;
    if (rest >= divisor) {
      rest -= divisor;
      quotient |= 1u;
    }
    rest <<= 1;
  }
  return round_and_pack(sign, ex - ey + 127, quotient | (rest != 0u ? 1u : 0u));
}

static float_bits from_magnitude(uint32_t sign, uint32_t value) {
  return value >> 31 != 0u ? round_and_pack(sign, 127 + 31, (value >> 1) | (value & 1u))
                           : normalize_and_pack(sign, 127 + 30, value);
}

float_bits BUILTIN(i2f, __floatsisf)(int32_t value) {
  return value < 0 ? from_magnitude(SIGN, 0u - (uint32_t)value) : from_magnitude(0, (uint32_t)value);
}

float_bits BUILTIN(ui2f, __floatunsisf)(uint32_t value) {
  return from_magnitude(0, value);
}

static float_bits from_magnitude64(uint32_t sign, uint64_t value) {
  uint32_t upper = (uint32_t)(value >> 32);
  uint32_t lower = (uint32_t)value;
  if (upper == 0u) {
    return from_magnitude(sign, lower);
  }
  int left = SHIM(__clzsi2)(upper);
  uint32_t top = left == 0 ? upper : (upper << left) | (lower >> (32 - left));
  uint32_t mark = (lower << left) != 0u ? 1u : 0u;
  return round_and_pack(sign, 127 + 63 - left, (top >> 1) | (top & 1u) | mark);
}

float_bits BUILTIN(l2f, __floatdisf)(int64_t value) {
  return value < 0 ? from_magnitude64(SIGN, 0u - (uint64_t)value) : from_magnitude64(0, (uint64_t)value);
}

float_bits BUILTIN(ul2f, __floatundisf)(uint64_t value) {
  return from_magnitude64(0, value);
}

/* Towards zero; what is too large becomes the largest magnitude given, a NaN zero. */
static uint32_t to_magnitude(float_bits x, uint32_t largest) {
  int shift = exponent_of(x) - 127;
  uint32_t significand = (x & FRACTION) | HIDDEN;
  if (is_nan(x) || shift < 0) {
    return 0;
  }
  if (shift > 31) {
    return largest;
  }
  uint32_t value = shift >= 23 ? significand << (shift - 23) : significand >> (23 - shift);
  return value > largest ? largest : value;
}

int32_t BUILTIN(f2iz, __fixsfsi)(float_bits value) {
  if ((value & SIGN) != 0u) {
    return (int32_t)(0u - to_magnitude(value, 0x80000000u));
  }
  return (int32_t)to_magnitude(value, 0x7fffffffu);
}

uint32_t BUILTIN(f2uiz, __fixunssfsi)(float_bits value) {
  return (value & SIGN) != 0u ? 0u : to_magnitude(value, 0xffffffffu);
}

static uint64_t to_magnitude64(float_bits x, uint64_t largest) {
  int shift = exponent_of(x) - 127;
  if (shift < 32 || is_nan(x)) {
    return to_magnitude(x, 0xffffffffu);
  }
  if (shift > 63) {
    return largest;
  }
  uint64_t significand = (x & FRACTION) | HIDDEN;
  uint64_t value = (uint64_t)BUILTIN(llsl, __ashldi3)((int64_t)significand, shift - 23);
  return value > largest ? largest : value;
}

int64_t BUILTIN(f2lz, __fixsfdi)(float_bits value) {
  if ((value & SIGN) != 0u) {
    return (int64_t)(0u - to_magnitude64(value, (uint64_t)1 << 63));
  }
  return (int64_t)to_magnitude64(value, INT64_MAX);
}

uint64_t BUILTIN(f2ulz, __fixunssfdi)(float_bits value) {
  return (value & SIGN) != 0u ? 0u : to_magnitude64(value, UINT64_MAX);
}

#if defined(__arm__)

float_bits __aeabi_frsub(float_bits a, float_bits b) {
  return __aeabi_fsub(b, a);
}

#else

float_bits SHIM(__negsf2)(float_bits value) {
  return value ^ SIGN;
}

#endif
