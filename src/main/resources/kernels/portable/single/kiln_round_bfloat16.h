// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* The nearest number that bfloat16 holds, halves to even. */
static inline float kiln_round_bfloat16(float value) {
  union {
    float real;
    uint32_t bits;
  } same = {value};
  if ((same.bits & 0x7fffffffu) < 0x7f800000u) {
    same.bits = (same.bits + 0x7fffu + (same.bits >> 16 & 1u)) & 0xffff0000u;
  }
  return same.real;
}
