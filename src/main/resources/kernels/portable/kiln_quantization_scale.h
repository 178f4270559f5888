// SPDX-License-Identifier: Apache-2.0
#pragma once

/* The step of 256 values that cover the numbers from least to most and 0, in double precision; 1 if there is only 0. */
static inline double kiln_quantization_step(float least, float most) {
  const double low = least < 0.0f ? (double)least : 0.0;
  const double high = most > 0.0f ? (double)most : 0.0;
  return high > low ? (high - low) / 255.0 : 1.0;
}

/* The same in single precision. */
static inline float kiln_quantization_scale(float least, float most) {
  return (float)kiln_quantization_step(least, most);
}
