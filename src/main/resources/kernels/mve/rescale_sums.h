// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_mve_rescale_short
#define RESULT int16_t
#define INSTRUCTIONS "nop\n\t"
#define OFFSET 0
#define LOW -32768
#define HIGH 32767

/* Groups of sums, each by its multiplier / 2^31, rounded, then / 2^(1 + shift), rounded again, or shifted left, plus an offset, saturated. */
static __attribute__((noinline)) void NAME(const int32_t* sums, const int32_t* by, RESULT* out, int32_t groups, int32_t count, int32_t zero_point) {
  for (; groups > 0; --groups, by += 2) {
    const int32_t right = by[1] + 1;
    const int32_t left = right > 0 ? 0 : -right;
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
    const int32_t* sum = sums;
    RESULT* to = out;
    __asm__ volatile(
        "vdup.32 q2, %[negative]\n\t"
        "dlstp.32 lr, %[count]\n\t"
        "1:\n\t"
        "vldrw.32 q0, [%[sum]], #16\n\t"
        "vshl.s32 q0, %[left]\n\t"
        "vqrdmulh.s32 q0, q0, %[m]\n\t"
        "vshr.s32 q1, q0, #31\n\t"
        "vand q1, q1, q2\n\t"
        "vadd.i32 q0, q0, q1\n\t"
        "vrshl.s32 q0, %[down]\n\t"
INSTRUCTIONS
        "letp lr, 1b\n\t"
      : [sum] "+&r"(sum), [out] "+&l"(to)
      : [m] "r"(by[0]), [left] "r"(left), [down] "r"(right > 0 ? -right : 0), [negative] "r"(right > 0 ? -1 : 0), [zero] "r"(zero_point), [count] "r"(count)
      : "lr", "q0", "q1", "q2", "memory");
    sums += count;
    out += count;
#else
    for (int32_t rest = count; rest > 0; --rest, ++sums, ++out) {
      const int32_t shifted = (int32_t)((uint32_t)*sums << left);
      int32_t value = (int32_t)(((int64_t)shifted * by[0] + (1 << 30)) >> 31);
      if (right > 0) {
        value = (((value + (value >> 31)) >> (right - 1)) + 1) >> 1;
      }
      value = value < -32768 ? -32768 : (value > 32767 ? 32767 : value);
      value += OFFSET;
      *out = (RESULT)(value < LOW ? LOW : (value > HIGH ? HIGH : value));
    }
#endif
  }
  (void)zero_point;
}
