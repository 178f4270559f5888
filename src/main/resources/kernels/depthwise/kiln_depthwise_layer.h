// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_depthwise_widen.h"

/* A depthwise convolution, four channels at a time; the last four may lie over those before. layer: height, width and channels of the input; the
   window's height, width, strides and dilations, which are 1, padding above and on the left; height, width and channels of the output; zero
   point; words that the channels have in common in rescale, and of each channel; scale of the window's weights. x: scratch, for the window's weights in each order in which its rows follow each other in a ring, and the ring. */
__attribute__((noinline))
static void kiln_depthwise_layer(
    const int8_t* in, const int8_t* w, const int32_t* rescale, const int16_t* layer, int8_t* x, int8_t* out,
    void (*pixels)(const int8_t*, const int8_t*, const int32_t*, int8_t*, int32_t, int32_t, int32_t, int32_t, const int32_t*)) {
  const uint16_t* const size = (const uint16_t*)layer;
  const int32_t width = size[1];
  const int32_t channels = size[2];
  const int32_t rows = size[3];
  const int32_t left = size[10];
  const int32_t out_width = size[12];
  const int32_t bytes = (rows * size[4] + 2) / 3 * 24;
  const int32_t scale = size[17];
  const int32_t columns = (out_width - 1) * size[6] + size[4];
  const int32_t inside = columns - left < width ? columns - left : width;
  const int32_t zeros = (int32_t)((uint32_t)(size[14] & 0xFF) * 0x1010101u);
  const int8_t* const fill = (const int8_t*)&zeros;
  const int32_t step = out_width > 1 ? size[6] * rows * 8 : 0;
  const int32_t pitch = out_width > 1 ? channels : 0;
  int8_t* const ring = x + rows * bytes;
  const int32_t none = 0;
  kiln_depthwise_widen(x, (const int8_t*)&none, rows * bytes / 8, 0, 8);
  kiln_depthwise_widen(ring, fill, columns * rows, 0, 8);
  for (int32_t c = 0;; c = c + 8 < channels ? c + 4 : channels - 4) {
    for (int32_t tap = 0; tap < rows * size[4]; ++tap) {
      const int32_t ky = tap / size[4];
      const int8_t* const four = w + tap * channels + c;
      const uint32_t even = (uint32_t)(four[0] * scale & 0xFFFF) | (uint32_t)(four[2] * scale) << 16;
      const uint32_t odd = (uint32_t)(four[1] * scale & 0xFFFF) | (uint32_t)(four[3] * scale) << 16;
      int8_t* to = x + (tap % size[4] * rows + ky) * 8;
      for (int32_t first = 0; first < rows; ++first, to += bytes + 8) {
        if (first + ky == rows) {
          to -= 8 * rows;
        }
        __builtin_memcpy(to, &even, 4);
        __builtin_memcpy(to + 4, &odd, 4);
      }
    }
    const int8_t* from = in + c;
    int8_t* to = out + c;
    int32_t ready = -size[9];
    int32_t slot = 0;
    int32_t turn = 0;
    for (int32_t y = 0; y < size[11]; ++y) {
      for (; ready + size[9] < y * size[5] + rows; ++ready) {
        const int32_t is_inside = ready >= 0 && ready < size[0];
        kiln_depthwise_widen(ring + (slot + left * rows) * 8, is_inside ? from : fill, inside, is_inside ? channels : 0, 8 * rows);
        from += ready < 0 ? 0 : width * channels;
        slot = slot + 1 < rows ? slot + 1 : 0;
      }
      pixels(ring, x + turn * bytes, rescale + size[15] + c * size[16], to, step, pitch, out_width, bytes, rescale);
      to += out_width * channels;
      for (turn += size[5]; turn >= rows; turn -= rows) {
      }
    }
    if (c == channels - 4) {
      return;
    }
  }
}
