// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* e^x = 2^power * e^r, the same bits on every machine: no function of libm promises that. */
static inline float kiln_exp(float x) {
  if (x != x) {
    return x;
  }
  const float limited = x < -128.0f ? -128.0f : (x > 128.0f ? 128.0f : x);
  const float steps = limited * 1.442695f;
  const int32_t power = (int32_t)(steps + (steps < 0.0f ? -0.5f : 0.5f));
  const float r = limited - (float)power * 0.693359375f + (float)power * 2.12194440e-4f;
  float series = 1.0f / 5040.0f;
  series = series * r + 1.0f / 720.0f;
  series = series * r + 1.0f / 120.0f;
  series = series * r + 1.0f / 24.0f;
  series = series * r + 1.0f / 6.0f;
  series = series * r + 0.5f;
  series = series * r * r + r + 1.0f;
  /* In two steps, because 2^power itself may be too large or too small for a float. */
  const int32_t half = power / 2;
  const union { uint32_t bits; float value; } first = {(uint32_t)(half + 127) << 23};
  const union { uint32_t bits; float value; } second = {(uint32_t)(power - half + 127) << 23};
  return series * first.value * second.value;
}
