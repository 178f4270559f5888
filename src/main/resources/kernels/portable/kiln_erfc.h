// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <math.h>
#include <stdint.h>

/*
 * 1 - erf(x) within some millionths of the result: t e^(-x^2 + polynomial in t) with t = 1 / (1 + |x| / 2), a Chebyshev fit with an error of
 * 1.2e-7 everywhere (Numerical Recipes, 6.2).
 */
static inline float kiln_erfc(float x) {
  const float magnitude = x < 0.0f ? -x : x;
  const float t = 1.0f / (1.0f + 0.5f * magnitude);
  float tail = 0.17087277f;
  tail = tail * t - 0.82215223f;
  tail = tail * t + 1.48851587f;
  tail = tail * t - 1.13520398f;
  tail = tail * t + 0.27886807f;
  tail = tail * t - 0.18628806f;
  tail = tail * t + 0.09678418f;
  tail = tail * t + 0.37409196f;
  tail = tail * t + 1.00002368f;
  const float above = t * expf(tail * t - 1.26551223f - magnitude * magnitude);
  return x < 0.0f ? 2.0f - above : above;
}
