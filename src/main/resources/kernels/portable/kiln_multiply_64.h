// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* a * b, wrapping around. */
static inline int64_t kiln_multiply_64(int64_t a, int64_t b) {
  return (int64_t)((uint64_t)a * (uint64_t)b);
}
