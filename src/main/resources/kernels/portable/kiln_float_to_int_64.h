// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* value cut towards zero and limited to 64 bits; 0 for NaN. */
static inline int64_t kiln_float_to_int_64(float value) {
  if (value >= -9223372036854775808.0f && value < 9223372036854775808.0f) {
    return (int64_t)value;
  }
  return value > 0.0f ? INT64_MAX : (value < 0.0f ? INT64_MIN : 0);
}
