// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_product_high.h"
#include "kiln_single.h"

/*
 * The bits of the natural logarithm of a float from 1 to 65536: the float divided by 2^k and by a number near it, a polynomial of
 * what is left, and the logarithms of both divisors, in fixed point with 58 bits after the point, rounded once.
 */
static inline uint32_t kiln_single_log(uint32_t value) {
  /* 1 / c with 62 bits after the point, and log(c) with 58, for a c in each sixteenth of the interval from 0.7 to 1.4. */
  static const uint64_t inverse[] = {
      UINT64_C(0x5987b1e7e3cef800), UINT64_C(0x55c7b52abe20f400), UINT64_C(0x5254e7c3c042c000),
      UINT64_C(0x4f2656c2e00e1400), UINT64_C(0x4c34643221929400), UINT64_C(0x497889ec2e3a8000),
      UINT64_C(0x46ed292868d0fc00), UINT64_C(0x448d63c22b96e800), UINT64_C(0x4254fd0664029c00),
      UINT64_C(0x4000000000000000), UINT64_C(0x3cc119fb348f5800), UINT64_C(0x3949663e04d54000),
      UINT64_C(0x36406caed5f9cc00), UINT64_C(0x3385a2c743545a00), UINT64_C(0x310dcc06f083da00),
      UINT64_C(0x2ecfb9eaa690c400)};
  static const int64_t logarithm[] = {
      -INT64_C(0x157bf7808caade0), -INT64_C(0x12bef0a7c06ddb0), -INT64_C(0x101eae7f513a670), -INT64_C(0xd98ec534112748),
      -INT64_C(0xb2ba785603bac0), -INT64_C(0x8d515e3ce40800), -INT64_C(0x6939db3a303978), -INT64_C(0x465cf169847330),
      -INT64_C(0x24a5e871c2183c), INT64_C(0), INT64_C(0x354b54bbe4b308), INT64_C(0x71794ea8d8bad0),
      INT64_C(0xa9372bb906d840), INT64_C(0xde143069123b80), INT64_C(0x11058bc8a07ee10), INT64_C(0x14043057b6ee090)};
  const uint32_t above = value - 0x3f330000u;
  const uint32_t sixteenth = above >> 19 & 15u;
  const uint32_t scaled = value - (above & 0xff800000u);
  const uint64_t mantissa = (uint64_t)((scaled & 0x7fffffu) | 0x800000u) << ((scaled >> 23) - 87u);
  const int64_t rest = (int64_t)kiln_product_high(mantissa, inverse[sixteenth] << 1) - (INT64_C(1) << 62);
  const uint64_t magnitude = (uint64_t)(rest < 0 ? -rest : rest) << 2;
  const uint64_t square = kiln_product_high(magnitude, magnitude);
  const uint64_t linear = kiln_product_high(UINT64_C(0x555d6c2f802da800), magnitude);
  const uint64_t even = UINT64_C(0x7ffffbc829048c00) + kiln_product_high(UINT64_C(0x403a8d22e20cd000), square);
  const uint64_t factor = rest < 0 ? even + linear : even - linear;
  const int64_t part = (rest < 0 ? -(int64_t)magnitude : (int64_t)magnitude) - (int64_t)kiln_product_high(factor, square);
  const int64_t whole = logarithm[sixteenth] + (int64_t)(above >> 23) * INT64_C(0x2c5c85fdf473de0);
  if (whole == 0) {
    return kiln_single((uint64_t)part, -64);
  }
  const int64_t shifted = part < 0 ? -((-part + 63) >> 6) : part >> 6;
  return kiln_single((uint64_t)(whole + shifted), -58);
}
