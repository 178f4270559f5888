// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* An integer that is larger for a larger float; one above all of them for NaN. */
static inline int32_t kiln_float_key_above(float value) {
  const union {
    float real;
    int32_t bits;
  } same = {value};
  const int32_t key = same.bits < 0 ? same.bits ^ INT32_MAX : same.bits;
  return key < -2139095041 ? INT32_MAX : key;
}
