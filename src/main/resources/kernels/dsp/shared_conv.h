// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_conv_layer.h"
#define NAME kiln_conv
#define BLOCKS 0

/* A convolution with the constants of a kind of rescaling. */
__attribute__((noinline))
static void NAME(const int8_t* in, const int32_t* w, const int16_t* layer, int8_t* x, int8_t* out) {
  kiln_conv_layer(in, w, layer, x, out, BLOCKS);
}
