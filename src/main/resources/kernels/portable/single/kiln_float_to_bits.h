// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* The bits of a float. */
static inline int32_t kiln_float_to_bits(float value) {
  const union {
    float from;
    int32_t to;
  } same = {value};
  return same.to;
}
