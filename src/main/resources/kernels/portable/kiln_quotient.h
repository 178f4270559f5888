// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_high_mul.h"
#include "kiln_leading_zeros.h"
#include "rescale/kiln_rescale_any.h"

/* dividend * reciprocal * multiplier * 2^shift, the dividend shifted left as far as it goes before it is multiplied. */
static inline int32_t kiln_quotient(int32_t dividend, int32_t reciprocal, int32_t multiplier, int32_t shift) {
  const int32_t magnitude = dividend < 0 ? -dividend - 1 : dividend;
  const int32_t headroom = magnitude == 0 ? 31 : kiln_leading_zeros((uint32_t)magnitude) - 1;
  const int32_t quotient = kiln_high_mul((int32_t)((uint32_t)dividend << headroom), reciprocal);
  return headroom - shift > 31 ? 0 : kiln_rescale_any(quotient, multiplier, shift - headroom);
}
