// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* value * multiplier / 2^(31 + shift) rounded twice: in the multiply, then in the shift. For shift >= 1 and values
   so small that adding half of 2^shift to the product does not overflow. */
static inline int32_t kiln_rescale(int32_t value, int32_t multiplier, int32_t shift) {
#if defined(__thumb__) && __ARM_ARCH_ISA_THUMB >= 2
  /* Twice the product, whose lower word then begins with the bit that rounds. */
  int32_t low;
  int32_t high;
  __asm__(
      "smull %0, %1, %2, %3\n"
      "adds %0, %0, %0\n"
      "adc %1, %1, %1\n"
      "add %1, %1, %0, lsr #31\n"
      : "=&r"(low), "=&r"(high)
      : "r"(value), "r"(multiplier)
      : "cc");
#else
  const int32_t high = (int32_t)(((int64_t)value * multiplier + (1 << 30)) >> 31);
#endif
  return (high + (1 << (shift - 1)) + (high >> 31)) >> shift;
}
