// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_round_24.h"

/* A multiple of a scale, in units of its mantissa's last bit, as single precision computes it. */
static inline int64_t kiln_multiple_24(int32_t count, int32_t mantissa) {
  const uint32_t magnitude = count < 0 ? 0u - (uint32_t)count : (uint32_t)count;
  const int64_t rounded = (int64_t)kiln_round_24((uint64_t)magnitude * (uint32_t)mantissa);
  return count < 0 ? -rounded : rounded;
}
