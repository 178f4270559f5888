// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Widens four channels of count pixels, step bytes apart, to 16 bits, scaled by 256, pitch bytes apart: channels 0, 2, 1 and 3. */
__attribute__((noinline))
static void kiln_depthwise_widen(int8_t* to, const int8_t* from, int32_t count, int32_t step, int32_t pitch) {
#if defined(__ARM_FEATURE_DSP)
  int32_t even, odd, next;
  __asm__ volatile(
      "tst %[count], #1\n"
      "beq 1f\n"
      "ldr %[next], [%[from]]\n"
      "add %[count], #1\n"
      "b 2f\n"
      "1:\n"
      "ldr %[odd], [%[from]]\n"
      "ldr %[next], [%[from], %[step]]\n"
      "add %[from], %[step]\n"
      "and %[even], %[upper], %[odd], lsl #8\n"
      "and %[odd], %[upper]\n"
      "strd %[even], %[odd], [%[to]]\n"
      "add %[to], %[pitch]\n"
      "2:\n"
      "and %[even], %[upper], %[next], lsl #8\n"
      "and %[odd], %[upper], %[next]\n"
      "add %[from], %[step]\n"
      "subs %[count], #2\n"
      "strd %[even], %[odd], [%[to]]\n"
      "add %[to], %[pitch]\n"
      "bne 1b\n"
      : [to] "+&r"(to), [from] "+&r"(from), [count] "+&r"(count), [even] "=&r"(even), [odd] "=&r"(odd), [next] "=&r"(next)
      : [step] "r"(step), [pitch] "r"(pitch), [upper] "r"(0xFF00FF00u)
      : "cc", "memory");
#else
  for (; count > 0; --count, to += pitch, from += step) {
    for (int32_t i = 0; i < 4; ++i) {
      const int16_t value = (int16_t)(from[i % 2 * 2 + i / 2] * 256);
      __builtin_memcpy(to + 2 * i, &value, 2);
    }
  }
#endif
}
