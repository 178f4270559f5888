// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Sets bytes to a value. */
static __attribute__((noinline)) void kiln_mve_fill(int8_t* to, int32_t value, int32_t bytes) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
  __asm__ volatile(
        "vdup.8 q0, %[value]\n\t"
        "wlstp.8 lr, %[bytes], 2f\n\t"
        "1:\n\t"
        "vstrb.8 q0, [%[to]], #16\n\t"
        "letp lr, 1b\n\t"
        "2:\n\t"
      : [to] "+r"(to)
      : [value] "r"(value), [bytes] "r"(bytes)
      : "lr", "q0", "cc", "memory");
#else
  for (int32_t i = 0; i < bytes; ++i) {
    to[i] = (int8_t)value;
  }
#endif
}
