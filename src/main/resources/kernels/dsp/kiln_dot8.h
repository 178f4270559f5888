// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_smlad.h"
#include "kiln_sxtb16.h"
#include "kiln_sxtb16_odd.h"

  /* Adds dot products of bytes with four rows of weights, four of each in turn, to the sums. */
  static __attribute__((noinline)) void kiln_dot8(const int8_t* x, const int8_t* w, int32_t* sums, int32_t count) {
    int32_t s0 = sums[0];
    int32_t s1 = sums[1];
    int32_t s2 = sums[2];
    int32_t s3 = sums[3];
    for (const int8_t* const end = x + count / 4 * 4; x < end; x += 4) {
  int32_t v;
  int32_t row;
  __builtin_memcpy(&v, x, 4);
  const int32_t even = kiln_sxtb16(v);
  const int32_t odd = kiln_sxtb16_odd(v);
  __builtin_memcpy(&row, w, 4);
  s0 = kiln_smlad(odd, kiln_sxtb16_odd(row), kiln_smlad(even, kiln_sxtb16(row), s0));
  __builtin_memcpy(&row, w + 4, 4);
  s1 = kiln_smlad(odd, kiln_sxtb16_odd(row), kiln_smlad(even, kiln_sxtb16(row), s1));
  __builtin_memcpy(&row, w + 8, 4);
  s2 = kiln_smlad(odd, kiln_sxtb16_odd(row), kiln_smlad(even, kiln_sxtb16(row), s2));
  __builtin_memcpy(&row, w + 12, 4);
  s3 = kiln_smlad(odd, kiln_sxtb16_odd(row), kiln_smlad(even, kiln_sxtb16(row), s3));
  w += 16;
}
for (int32_t left = count % 4; left > 0; --left) {
      s0 += *x * w[0];
      s1 += *x * w[4];
      s2 += *x * w[8];
      s3 += *x * w[12];
      ++x;
      ++w;
    }
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
  }
