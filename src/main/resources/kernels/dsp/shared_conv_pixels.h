// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_conv_pixels.h"
#define NAME kiln_conv_1x1
#define BLOCKS 0

/* A convolution of single pixels with the constants of a kind of rescaling. */
__attribute__((noinline))
static void NAME(const int8_t* in, const int32_t* w, int8_t* x, int8_t* out, int32_t pixels, int32_t inputs, int32_t channels) {
  kiln_conv_pixels(in, w, x, out, pixels, inputs, channels, BLOCKS);
}
