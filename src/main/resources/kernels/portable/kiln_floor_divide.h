// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include <math.h>

/* floor(a / b) of the exact quotient, a zero with its sign; the quotient of floats if one is infinite or NaN. */
static inline float kiln_floor_divide(float a, float b) {
  const float rest = fmodf(a, b);
  const float whole = (rest == a ? 0.0f * a : a - rest) / b;
  const float quotient = rest != 0.0f && (rest < 0.0f) != (b < 0.0f) ? whole - 1.0f : whole;
  const float below = floorf(quotient);
  if (rest != rest || b - b != 0.0f) {
    return floorf(a / b);
  }
  return quotient - below > 0.5f ? below + 1.0f : below;
}
