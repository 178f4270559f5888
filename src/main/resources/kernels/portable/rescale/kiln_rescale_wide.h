// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* value * multiplier / 2^shift, rounded once, for a multiplier of 15 bits. */
static inline int32_t kiln_rescale_wide(int64_t value, int32_t multiplier, int32_t shift) {
  return (int32_t)((value * multiplier + ((int64_t)1 << (shift - 1))) >> shift);
}
