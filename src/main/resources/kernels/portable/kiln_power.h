// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <math.h>
#include <stdint.h>

/* x to the power of y, as e^(y ln |x|) with the sign of an odd power; special numbers as in ISO C. */
static inline float kiln_power(float x, float y) {
  if (y == 0.0f || x == 1.0f) {
    return 1.0f;
  }
  if (y == 1.0f || y == 2.0f) {
    return y == 1.0f ? x : x * x;
  }
  const float logarithm = logf(x < 0.0f ? -x : x);
  /* Infinite powers of -1 are 1, not e^(infinity times 0). */
  const float power = logarithm == 0.0f && y == y ? 1.0f : expf(y * logarithm);
  if (!signbit(x)) {
    return power;
  }
  const float half = 0.5f * y;
  const int is_whole = floorf(y) == y;
  if (!is_whole && x < 0.0f && isfinite(x)) {
    return NAN;
  }
  return is_whole && floorf(half) != half ? -power : power;
}
