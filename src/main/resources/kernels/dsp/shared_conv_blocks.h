// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_conv_blocks
#define UNUSED_PARAMETERS const int8_t* x, const int32_t* w, int8_t* out, int32_t pitch, int32_t channels, int32_t bytes
#define PARAMETERS const int8_t* x, const int32_t* w, int8_t* out, int32_t pitch, int32_t channels, int32_t bytes
#define ASSEMBLY "bx lr"
#define CORRECTION
#define CONSTANTS 2
#define LOW -128
#define HIGH 127
#define HEADER const int32_t shift = w[0] & 0xFF;
#define HEADER_WORDS 2

/* Two pixels, pitch bytes apart, times channels in blocks of four; the last block may lie over the one before. x: per four inputs words for 0 and 2 of
   pixel 0 and of pixel 1, then for 1 and 3. w: per four inputs words for 0 and 2 of channels 0 and 1, of 2 and 3, then for 1 and 3; halfwords
   256 * first + second; then CONSTANTS constants of each channel; before all of them what the layer's channels have in common. */
#if defined(__ARM_FEATURE_DSP)
__attribute__((naked, noinline)) static void NAME(UNUSED_PARAMETERS) {
  __asm__ volatile(
ASSEMBLY
  );
}
#else
static void NAME(PARAMETERS) {
HEADER
  const int32_t bits = w[0] >> 8;
  w += HEADER_WORDS;
  for (int32_t first = 0;; first = first + 8 < channels ? first + 4 : channels - 4) {
    int32_t sums[2][4] = {{0}};
    for (int32_t i = 0; i < bytes / 4; ++i) {
      for (int32_t pixel = 0; pixel < 2; ++pixel) {
        const int8_t value = x[i / 4 * 16 + 4 * pixel + i % 2 * 8 + i % 4 / 2 * 2];
        for (int32_t pair = 0; pair < 2; ++pair) {
          const int16_t both = (int16_t)((uint32_t)w[i / 4 * 4 + i % 2 * 2 + pair] >> (i % 4 / 2 * 16));
          const int8_t second = (int8_t)both;
          sums[pixel][2 * pair] += value * ((both - second) / 256);
          sums[pixel][2 * pair + 1] += value * second;
        }
      }
    }
    w += bytes / 4;
    for (int32_t channel = 0; channel < 4; ++channel, w += CONSTANTS) {
      for (int32_t pixel = 0; pixel < 2; ++pixel) {
        int32_t value = (int32_t)(((int64_t)sums[pixel][channel] * (1 << bits) * w[0]) >> 32) + w[1];
CORRECTION
        value >>= shift;
        out[pixel * pitch + first + channel] = (int8_t)(value < LOW ? LOW : (value > HIGH ? HIGH : value));
      }
    }
    if (first == channels - 4) {
      return;
    }
  }
}
#endif

