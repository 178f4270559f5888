// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_product_short.h"

/* exp(x) in units of 2^-15, for x from -2^15 to -1 with 15 - bits fraction bits: a Taylor series around -1/8 of what
   exceeds a multiple of -1/4, times exp(-2^k) for each bit k of that multiple. */
static inline int32_t kiln_exp_short(int32_t x, int32_t bits) {
  const int32_t fraction = 15 - bits;
  const int32_t quarter = (int32_t)1 << (fraction - 2);
  const int32_t rest = (x & (quarter - 1)) - quarter;
  const int32_t a = rest * ((int32_t)1 << bits) + 4096;
  const int32_t a2 = kiln_product_short(a, a);
  const int32_t a3 = kiln_product_short(a2, a);
  const int32_t a4 = kiln_product_short(a2, a2);
  const int32_t higher = (kiln_product_short(((a4 + 2) >> 2) + a3, 10923) + a2 + 1) >> 1;
  const int32_t multiple = (rest - x) >> (fraction - 2);
  int32_t result = 28918 + kiln_product_short(28918, a + higher);
  if ((multiple & 1) != 0) {
    result = kiln_product_short(result, 25520);
  }
  if ((multiple & 2) != 0) {
    result = kiln_product_short(result, 19875);
  }
  if ((multiple & 4) != 0) {
    result = kiln_product_short(result, 12055);
  }
  if ((multiple & 8) != 0) {
    result = kiln_product_short(result, 4435);
  }
  if ((multiple & 16) != 0) {
    result = kiln_product_short(result, 600);
  }
  if ((multiple & 32) != 0) {
    result = kiln_product_short(result, 11);
  }
  return multiple < 64 ? result : 0;
}
