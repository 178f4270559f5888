// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_real.h"

/* The magnitude of a value on one side of 0, at most that of the largest float; 0 on the other side. */
static inline struct kiln_real kiln_reach(float value) {
  return kiln_real_of(value > 0.0f ? (value < 3.40282347e38f ? value : 3.40282347e38f) : 0.0f);
}

/* The step of 256 values that cover the numbers from least to most and 0, as double precision gives it; 0 if there is only 0. */
static inline struct kiln_real kiln_quantization_step(float least, float most) {
  const struct kiln_real low = kiln_reach(-least);
  const struct kiln_real high = kiln_reach(most);
  const struct kiln_real width =
      kiln_real_less(low, high) ? kiln_real_sum(high, low, 0) : kiln_real_sum(low, high, 0);
  return width.digits == 0u ? width : kiln_real_quotient(width, kiln_real(255u, 0));
}

/* The step in single precision; 1 if there is only 0. */
static inline float kiln_quantization_scale(float least, float most) {
  const struct kiln_real step = kiln_quantization_step(least, most);
  if (step.digits == 0u) {
    return 1.0f;
  }
  const int32_t right = step.exponent + 29 < -149 ? -149 - step.exponent : 29;
  uint32_t bits = 0u;
  if (right <= 54) {
    const uint64_t rest = step.digits & (((uint64_t)1 << right) - 1u);
    const uint64_t half = (uint64_t)1 << (right - 1);
    bits = (uint32_t)(step.digits >> right);
    bits += rest > half || (rest == half && (bits & 1u) != 0u) ? 1u : 0u;
  }
  bits += (uint32_t)(step.exponent + right + 149) << 23;
  const union {
    uint32_t bits;
    float value;
  } scale = {bits};
  return scale.value;
}
