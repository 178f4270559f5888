// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Sets the sums of pixels to the bias of each channel. */
static __attribute__((noinline)) void kiln_mve_depthf_start(const float* bias, float* sums, int32_t channels, int32_t pixels) {
  for (int32_t p = 0; p < pixels; ++p) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
    const float* from = bias;
    float* to = sums + p * channels;
    __asm__ volatile(
        "dlstp.32 lr, %[count]\n\t"
        "1:\n\t"
        "vldrw.32 q0, [%[from]], #16\n\t"
        "vstrw.32 q0, [%[to]], #16\n\t"
        "letp lr, 1b\n\t"
        : [from] "+l"(from), [to] "+l"(to)
        : [count] "r"(channels)
        : "lr", "q0", "cc", "memory");
#else
    for (int32_t c = 0; c < channels; ++c) {
      sums[p * channels + c] = bias[c];
    }
#endif
  }
}
