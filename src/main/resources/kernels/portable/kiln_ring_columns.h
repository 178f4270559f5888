// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* The sums of the columns of a ring of rows, times weights, from the oldest row on. w: of each 4 columns, by row; then of each column left. */
static __attribute__((noinline)) void kiln_ring_columns(const int16_t* state, const int16_t* w, const int32_t* begin, int32_t* sums, int32_t columns, int32_t oldest, int32_t rows) {
  int32_t left = columns;
  for (; left >= 4; left -= 4, state += 4, begin += 4, sums += 4) {
    uint32_t a = (uint32_t)begin[0];
    uint32_t b = (uint32_t)begin[1];
    uint32_t c = (uint32_t)begin[2];
    uint32_t d = (uint32_t)begin[3];
    int32_t at = oldest * columns;
    int32_t count = rows - oldest;
    for (int32_t part = 0; part < 2; ++part) {
#if defined(__clang__)
      /* Rows are few, and four of them at once would keep sums on the stack. */
#pragma clang loop unroll(disable)
#endif
      for (; count > 0; --count, w += 4, at += columns) {
        const int16_t* const x = state + at;
        a += (uint32_t)(x[0] * w[0]);
        b += (uint32_t)(x[1] * w[1]);
        c += (uint32_t)(x[2] * w[2]);
        d += (uint32_t)(x[3] * w[3]);
      }
      at = 0;
      count = oldest;
    }
    sums[0] = (int32_t)a;
    sums[1] = (int32_t)b;
    sums[2] = (int32_t)c;
    sums[3] = (int32_t)d;
  }
  for (; left > 0; --left, ++state, ++begin, ++sums) {
    uint32_t sum = (uint32_t)*begin;
    for (int32_t row = oldest; row < rows; ++row) {
      sum += (uint32_t)(state[row * columns] * *w++);
    }
    for (int32_t row = 0; row < oldest; ++row) {
      sum += (uint32_t)(state[row * columns] * *w++);
    }
    *sums = (int32_t)sum;
  }
}
