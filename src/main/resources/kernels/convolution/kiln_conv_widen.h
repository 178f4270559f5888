// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Widens a run of inputs of two pixels to 16 bits: of each four, 0 and 2 of a, 0 and 2 of b, 1 and 3 of a, 1 and 3 of b. Weights are 0 for
   what is missing of the last four. */
__attribute__((noinline))
static void kiln_conv_widen(int8_t* to, const int8_t* a, const int8_t* b, int32_t count) {
#if defined(__ARM_FEATURE_DSP)
  if (count >= 4) {
    uint32_t t0, t1, t2, t3;
    __asm__ volatile(
        "subs %[count], #4\n"
        "1:\n"
        "ldr %[t2], [%[a]], #4\n"
        "ldr %[t3], [%[b]], #4\n"
        "2:\n"
        "subs %[count], #4\n"
        "sxtb16 %[t0], %[t2]\n"
        "sxtb16 %[t1], %[t3]\n"
        "sxtb16 %[t2], %[t2], ror #8\n"
        "sxtb16 %[t3], %[t3], ror #8\n"
        "str %[t1], [%[to], #4]\n"
        "str %[t2], [%[to], #8]\n"
        "str %[t3], [%[to], #12]\n"
        "str %[t0], [%[to]], #16\n"
        "bge 1b\n"
        "cmn %[count], #4\n"
        "ble 3f\n"
        "ldr %[t2], [%[a], %[count]]\n"
        "ldr %[t3], [%[b], %[count]]\n"
        "rsb %[t0], %[count], #0\n"
        "lsl %[t0], #3\n"
        "lsr %[t2], %[t0]\n"
        "lsr %[t3], %[t0]\n"
        "mvn %[count], #3\n"
        "b 2b\n"
        "3:\n"
        : [to] "+&r"(to), [a] "+&r"(a), [b] "+&r"(b), [count] "+&r"(count), [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3)
        :
        : "cc", "memory");
    return;
  }
#endif
  for (int32_t i = 0; i < count; ++i) {
    const int16_t of_a = a[i];
    const int16_t of_b = b[i];
    int8_t* const place = to + (i / 4 * 16 + i % 2 * 8 + i % 4 / 2 * 2);
    __builtin_memcpy(place, &of_a, 2);
    __builtin_memcpy(place + 4, &of_b, 2);
  }
}
