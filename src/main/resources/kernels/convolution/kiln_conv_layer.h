// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_conv_widen.h"
#include "../movement/kiln_copy_row.h"
#include "../movement/kiln_fill_row.h"

/* A convolution. layer: height, width and channels of the input; the window's height, width, strides and dilations,
   padding above and on the left; height, width and channels of the output; zero point; columns of the input
   with padding, or 0 for none. x: scratch, for two windows, and before them the rows under a window if there is padding. */
__attribute__((noinline))
static void kiln_conv_layer(
    const int8_t* in, const int32_t* w, const int16_t* layer, int8_t* x, int8_t* out,
    void (*blocks)(const int8_t*, const int32_t*, int8_t*, int32_t, int32_t, int32_t)) {
  const uint16_t* const size = (const uint16_t*)layer;
  const int32_t row_bytes = size[1] * size[2];
  const int32_t channels = size[13];
  const int32_t run = (size[8] == 1 ? size[4] : 1) * size[2];
  const int32_t runs = size[8] == 1 ? 1 : size[4];
  const int32_t span = (size[3] - 1) * size[7] + 1;
  const int32_t step = size[6] * size[2];
  const int8_t* source = in;
  int8_t* windows = x;
  int32_t pitch = row_bytes;
  int32_t ring = size[0];
  int32_t next = 0;
  if (size[15] != 0) {
    source = x;
    pitch = size[15] * size[2];
    ring = span;
    windows = x + (span * pitch + 3) / 4 * 4;
    kiln_fill_row(x, span * pitch, size[14]);
  }
  for (int32_t y = 0; y < size[11]; ++y) {
    for (; source != in && next < y * size[5] + span; ++next) {
      const int32_t row = next - size[9];
      int8_t* const to = x + next % span * pitch + size[10] * size[2];
      if (row >= 0 && row < size[0]) {
        kiln_copy_row(to, in + row * row_bytes, row_bytes);
      } else {
        kiln_fill_row(to, row_bytes, size[14]);
      }
    }
    int32_t offset = 0;
    for (int32_t left = size[12]; left > 0; left -= 2) {
      const int32_t distance = left > 1 ? step : 0;
      int8_t* place = windows;
      int32_t row = y * size[5] % ring;
      for (int32_t ky = size[3]; ky > 0; --ky) {
        const int8_t* from = source + row * pitch + offset;
        for (int32_t kx = runs; kx > 0; --kx) {
          kiln_conv_widen(place, from, from + distance, run);
          place += (run + 3) / 4 * 16;
          from += size[8] * size[2];
        }
        row += size[7];
        if (row >= ring) {
          row -= ring;
        }
      }
      blocks(windows, w, out, left > 1 ? channels : 0, channels, (int32_t)(place - windows));
      offset += 2 * step;
      out += left > 1 ? 2 * channels : channels;
    }
  }
}
