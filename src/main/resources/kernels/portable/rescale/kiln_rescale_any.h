// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* value * multiplier * 2^(shift - 31) rounded twice: in the multiply, then in a shift to the right. */
static inline int32_t kiln_rescale_any(int32_t value, int32_t multiplier, int32_t shift) {
  const int32_t left = shift > 0 ? shift : 0;
  const int32_t right = shift > 0 ? 0 : -shift;
  const int32_t shifted = (int32_t)((uint32_t)value << left);
  const int64_t high = ((int64_t)shifted * multiplier + (1 << 30)) >> 31;
  const int64_t half = ((int64_t)1 << right) >> 1;
  return (int32_t)((high + half - (high < 0 && right > 0 ? 1 : 0)) >> right);
}
