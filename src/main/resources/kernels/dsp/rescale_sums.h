// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_rescale_words_short
#define RESULT int16_t
#define TO_THE_LEFT "nop\n"
#define TO_THE_RIGHT "nop\n"
#define STEP 2
#define HALF 30
#define DOWN 31
#define OFFSET 0
#define LOW -32768
#define HIGH 32767

/* Groups of sums, each by its multiplier / 2^DOWN, rounded, then / 2^(1 + shift), rounded again, or shifted left, plus an offset, saturated. */
static __attribute__((noinline)) void NAME(const int32_t* sums, const int32_t* by, RESULT* out, int32_t groups, int32_t count, int32_t zero_point) {
  for (; groups > 0; --groups, by += 2) {
    const int32_t right = by[1] + 1;
    const int32_t left = right > 0 ? 0 : -right;
    int32_t rest = count;
#if defined(__ARM_FEATURE_DSP)
    if (count >= STEP) {
      int32_t steps = count / STEP;
      int32_t a, b, low, high;
      if (right > 0) {
        __asm__ volatile(
TO_THE_RIGHT
      : [sums] "+&r"(sums), [out] "+&r"(out), [steps] "+&r"(steps), [a] "=&r"(a), [b] "=&r"(b), [low] "=&r"(low), [high] "=&r"(high)
      : [m] "r"(by[0]), [shift] "r"(by[1]), [zero] "r"(zero_point)
      : "cc", "memory");
      } else {
        __asm__ volatile(
TO_THE_LEFT
      : [sums] "+&r"(sums), [out] "+&r"(out), [steps] "+&r"(steps), [a] "=&r"(a), [b] "=&r"(b), [low] "=&r"(low), [high] "=&r"(high)
      : [m] "r"(by[0]), [shift] "r"(left), [zero] "r"(zero_point)
      : "cc", "memory");
      }
      rest = count % STEP;
    }
#endif
    for (; rest > 0; --rest, ++sums, ++out) {
      const int32_t shifted = (int32_t)((uint32_t)*sums << left);
      int32_t value = (int32_t)(((int64_t)shifted * by[0] + ((int64_t)1 << HALF)) >> DOWN);
      if (right > 0) {
        value = (((value + (value >> 31)) >> (right - 1)) + 1) >> 1;
      }
      value = value < -32768 ? -32768 : (value > 32767 ? 32767 : value);
      value += OFFSET;
      *out = (RESULT)(value < LOW ? LOW : (value > HIGH ? HIGH : value));
    }
  }
  (void)zero_point;
}
