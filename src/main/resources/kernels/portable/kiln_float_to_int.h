// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* value cut towards zero and limited to 32 bits; 0 for NaN. */
static inline int32_t kiln_float_to_int(float value) {
  if (value >= -2147483648.0f && value < 2147483648.0f) {
    return (int32_t)value;
  }
  return value > 0.0f ? INT32_MAX : (value < 0.0f ? INT32_MIN : 0);
}
