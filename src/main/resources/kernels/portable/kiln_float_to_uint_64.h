// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* value cut towards zero and limited to 64 bits without sign; 0 for NaN. */
static inline uint64_t kiln_float_to_uint_64(float value) {
  if (value >= 18446744073709551616.0f) {
    return UINT64_MAX;
  }
  return value > 0.0f ? (uint64_t)value : 0u;
}
