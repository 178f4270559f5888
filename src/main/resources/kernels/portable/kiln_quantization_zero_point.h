// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_quantization_scale.h"
#include "kiln_real.h"

/*
 * The int8 that stands for 0 if int8 covers the numbers from least to most and 0: derived as in double precision from the end that gives the
 * smaller error, rounded, halves away from zero; 0 if there is only 0.
 */
static inline float kiln_quantization_zero_point(float least, float most) {
  const struct kiln_real step = kiln_quantization_step(least, most);
  if (step.digits == 0u) {
    return 0.0f;
  }
  const struct kiln_real below = kiln_real_quotient(kiln_reach(-least), step);
  const struct kiln_real above = kiln_real_quotient(kiln_reach(most), step);
  const struct kiln_real first = kiln_real(128u, 0);
  const struct kiln_real last = kiln_real(127u, 0);
  const struct kiln_real from_least =
      kiln_real_less(first, below) ? kiln_real_sum(below, first, 0) : kiln_real_sum(first, below, 0);
  const struct kiln_real from_most =
      kiln_real_less(last, above) ? kiln_real_sum(above, last, 0) : kiln_real_sum(last, above, 0);
  const int is_from_least = kiln_real_less(from_least, from_most);
  const struct kiln_real end = is_from_least ? first : last;
  const struct kiln_real other = is_from_least ? below : above;
  const int is_beyond = kiln_real_less(end, other);
  const struct kiln_real zero = is_beyond ? kiln_real_sum(other, end, 1) : kiln_real_sum(end, other, 1);
  const int32_t right = -zero.exponent;
  const int32_t rounded =
      zero.digits == 0u || right > 54 ? 0 : (int32_t)((zero.digits + ((uint64_t)1 << (right - 1))) >> right);
  const int32_t value = is_beyond == is_from_least ? rounded : -rounded;
  return (float)(value < -128 ? -128 : value > 127 ? 127 : value);
}
