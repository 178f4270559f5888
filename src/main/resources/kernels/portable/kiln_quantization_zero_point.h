// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_quantization_scale.h"

/*
 * The int8 that stands for 0 if int8 covers the numbers from least to most and 0: derived in double precision from the end that gives the
 * smaller error, rounded, halves away from zero; 0 if there is only 0.
 */
static inline float kiln_quantization_zero_point(float least, float most) {
  const double low = least < 0.0f ? (double)least : 0.0;
  const double high = most > 0.0f ? (double)most : 0.0;
  if (!(high > low)) {
    return 0.0f;
  }
  const double step = kiln_quantization_step(least, most);
  const double below = low / step;
  const double above = high / step;
  const double zero = 128.0 - below < 127.0 + above ? -128.0 - below : 127.0 - above;
  if (zero <= -128.0) {
    return -128.0f;
  }
  if (zero >= 127.0) {
    return 127.0f;
  }
  const int32_t whole = (int32_t)zero;
  const double rest = zero - (double)whole;
  return (float)(whole + (rest >= 0.5 ? 1 : rest <= -0.5 ? -1 : 0));
}
