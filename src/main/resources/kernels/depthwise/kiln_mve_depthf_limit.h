// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Limits values, but for what is no number; low and high are the bits of floats. */
static __attribute__((noinline)) void kiln_mve_depthf_limit(float* values, int32_t count, int32_t low, int32_t high) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
        "vdup.32 q1, %[low]\n\t"
        "vdup.32 q2, %[high]\n\t"
        "dlstp.32 lr, %[count]\n\t"
        "1:\n\t"
        "vldrw.32 q0, [%[values]]\n\t"
        "vcmp.f32 gt, q1, q0\n\t"
        "vpsel q0, q1, q0\n\t"
        "vcmp.f32 gt, q0, q2\n\t"
        "vpsel q0, q2, q0\n\t"
        "vstrw.32 q0, [%[values]], #16\n\t"
        "letp lr, 1b\n\t"
      : [values] "+l"(values)
      : [count] "r"(count), [low] "r"(low), [high] "r"(high)
      : "lr", "q0", "q1", "q2", "cc", "memory");
#else
  const union { int32_t bits; float value; } least = {low}, most = {high};
  for (int32_t i = 0; i < count; ++i) {
    const float value = values[i] < least.value ? least.value : values[i];
    values[i] = value > most.value ? most.value : value;
  }
#endif
}
