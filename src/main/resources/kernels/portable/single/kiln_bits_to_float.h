// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* The float of these bits. */
static inline float kiln_bits_to_float(int32_t value) {
  const union {
    int32_t from;
    float to;
  } same = {value};
  return same.to;
}
