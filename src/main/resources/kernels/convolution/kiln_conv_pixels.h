// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_conv_widen.h"

/* A convolution whose outputs each read one pixel, the one at their place. x: scratch, for two pixels. */
__attribute__((noinline))
static void kiln_conv_pixels(
    const int8_t* in, const int32_t* w, int8_t* x, int8_t* out, int32_t pixels, int32_t inputs, int32_t channels,
    void (*blocks)(const int8_t*, const int32_t*, int8_t*, int32_t, int32_t, int32_t)) {
  for (; pixels > 0; pixels -= 2) {
    const int32_t second = pixels > 1;
    kiln_conv_widen(x, in, in + second * inputs, inputs);
    blocks(x, w, out, second * channels, channels, (inputs + 3) / 4 * 16);
    in += inputs;
    in += second * inputs;
    out += channels;
    out += second * channels;
  }
}
