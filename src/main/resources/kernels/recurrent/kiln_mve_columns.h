// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* The sums of the columns of a ring of rows, times weights, from the oldest row on. w: of each 8 columns, by row. */
static __attribute__((noinline)) void kiln_mve_columns(const int16_t* state, const int16_t* w, const int32_t* begin, int32_t* sums, int32_t columns, int32_t oldest, int32_t rows) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
  for (int32_t left = columns; left > 0; left -= 8, state += 8) {
    const int16_t* row = state + oldest * columns;
    __asm__ volatile(
        "vctp.16 %[left]\n\t"
        "vld20.32 {q0, q1}, [%[begin]]\n\t"
        "vld21.32 {q0, q1}, [%[begin]]!\n\t"
        "dls lr, %[first]\n\t"
        "1:\n\t"
        "vpst\n\t"
        "vldrht.u16 q2, [%[row]]\n\t"
        "vldrh.u16 q3, [%[w]], #16\n\t"
        "add %[row], %[step]\n\t"
        "vmullb.s16 q4, q2, q3\n\t"
        "vmullt.s16 q5, q2, q3\n\t"
        "vadd.i32 q0, q0, q4\n\t"
        "vadd.i32 q1, q1, q5\n\t"
        "le lr, 1b\n\t"
        "mov %[row], %[state]\n\t"
        "wls lr, %[second], 3f\n\t"
        "2:\n\t"
        "vpst\n\t"
        "vldrht.u16 q2, [%[row]]\n\t"
        "vldrh.u16 q3, [%[w]], #16\n\t"
        "add %[row], %[step]\n\t"
        "vmullb.s16 q4, q2, q3\n\t"
        "vmullt.s16 q5, q2, q3\n\t"
        "vadd.i32 q0, q0, q4\n\t"
        "vadd.i32 q1, q1, q5\n\t"
        "le lr, 2b\n\t"
        "3:\n\t"
        "vst20.32 {q0, q1}, [%[sums]]\n\t"
        "vst21.32 {q0, q1}, [%[sums]]!\n\t"
      : [row] "+&r"(row), [w] "+&r"(w), [begin] "+&r"(begin), [sums] "+&r"(sums)
      : [state] "r"(state), [left] "r"(left), [first] "r"(rows - oldest), [second] "r"(oldest), [step] "r"(2 * columns)
      : "lr", "q0", "q1", "q2", "q3", "q4", "q5", "cc", "memory");
  }
#else
  for (int32_t column = 0; column < columns; ++column) {
    uint32_t sum = (uint32_t)begin[column];
    for (int32_t row = 0; row < rows; ++row) {
      const int32_t at = row < rows - oldest ? oldest + row : oldest + row - rows;
      sum += (uint32_t)(state[at * columns + column] * w[(column / 8 * rows + row) * 8 + column % 8]);
    }
    sums[column] = (int32_t)sum;
  }
#endif
}
