// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

#if !(defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1))
/* Four bytes as a little-endian integer. */
static inline int32_t kiln_mve_word(const int8_t* bytes) {
  return (int32_t)((uint32_t)(uint8_t)bytes[0] | (uint32_t)(uint8_t)bytes[1] << 8 | (uint32_t)(uint8_t)bytes[2] << 16 |
                   (uint32_t)(uint8_t)bytes[3] << 24);
}
#endif
