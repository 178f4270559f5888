// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "../thumb2/kiln_smlad.h"

/* Dot products of int16 with blocks of four rows of weights widened to 16 bits, two of each in turn, after a block's initial values. */
static __attribute__((noinline)) void kiln_short_sums_pairs(const int16_t* x, const int8_t* rows, int32_t* sums, int32_t count, int32_t blocks) {
  const int8_t* w = __builtin_assume_aligned(rows, 4);
  for (; blocks > 0; --blocks, sums += 4) {
    int32_t words[4];
    __builtin_memcpy(words, __builtin_assume_aligned(w, 4), 16);
    int32_t a = words[0];
    int32_t b = words[1];
    int32_t c = words[2];
    int32_t d = words[3];
    w += 16;
    const int16_t* value = x;
    for (int32_t pairs = count / 2; pairs > 0; --pairs, value += 2, w += 16) {
      int32_t pair;
      __builtin_memcpy(&pair, value, 4);
      __builtin_memcpy(words, __builtin_assume_aligned(w, 4), 16);
      a = kiln_smlad(pair, words[0], a);
      b = kiln_smlad(pair, words[1], b);
      c = kiln_smlad(pair, words[2], c);
      d = kiln_smlad(pair, words[3], d);
    }
    if (count % 2 != 0) {
      __builtin_memcpy(words, __builtin_assume_aligned(w, 4), 16);
      a = kiln_smlad(*value, words[0], a);
      b = kiln_smlad(*value, words[1], b);
      c = kiln_smlad(*value, words[2], c);
      d = kiln_smlad(*value, words[3], d);
      w += 16;
    }
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
    sums[3] = d;
  }
}
