// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include <math.h>

/* The remainder of a / b that has the sign of b. */
static inline float kiln_floor_mod(float a, float b) {
  const float rest = fmodf(a, b);
  return rest != 0.0f && (rest < 0.0f) != (b < 0.0f) ? rest + b : rest;
}
