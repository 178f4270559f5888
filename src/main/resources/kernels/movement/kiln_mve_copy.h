// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Copies bytes. */
static __attribute__((noinline)) void kiln_mve_copy(const int8_t* from, int8_t* to, int32_t bytes) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
  __asm__ volatile(
        "wlstp.8 lr, %[bytes], 2f\n\t"
        "1:\n\t"
        "vldrb.8 q0, [%[from]], #16\n\t"
        "vstrb.8 q0, [%[to]], #16\n\t"
        "letp lr, 1b\n\t"
        "2:\n\t"
      : [from] "+r"(from), [to] "+r"(to)
      : [bytes] "r"(bytes)
      : "lr", "q0", "cc", "memory");
#else
  for (int32_t i = 0; i < bytes; ++i) {
    to[i] = from[i];
  }
#endif
}
