// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* value cut towards zero and limited to 32 bits without a sign; 0 for NaN. */
static inline uint32_t kiln_float_to_uint(float value) {
  return value >= 4294967296.0f ? UINT32_MAX : (value > 0.0f ? (uint32_t)value : 0u);
}
