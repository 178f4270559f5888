// SPDX-License-Identifier: Apache-2.0
#pragma once

/* A value below 2^22 rounded to an integer, halves to even: at 3 * 2^22 the last place is 1. */
static inline float kiln_round_small(float value) {
  const float aligned = value + 12582912.0f;
  return aligned - 12582912.0f;
}
