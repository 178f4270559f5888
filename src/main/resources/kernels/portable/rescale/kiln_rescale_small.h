// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* value * multiplier / 2^(31 + shift) rounded twice: in the multiply, then in the shift. For shift >= 1 and values
   below 2^30 so small that adding half of 2^shift to the product does not overflow. */
static inline int32_t kiln_rescale_small(int32_t value, int32_t multiplier, int32_t shift) {
  const int32_t twice = value * 2;
#if defined(__ARM_FEATURE_DSP)
  int32_t high;
  __asm__("smmulr %0, %1, %2" : "=r"(high) : "r"(twice), "r"(multiplier));
#elif defined(__ARM_ARCH_6M__)
  /* Without a long multiply: halves by halves; no sum leaves 32 bits. */
  const uint32_t low = (uint32_t)(twice & 0xffff) * (uint32_t)(multiplier & 0xffff);
  const int32_t first = (twice >> 16) * (multiplier & 0xffff) + (int32_t)(low >> 16);
  const int32_t second = (twice & 0xffff) * (multiplier >> 16) + (first & 0xffff);
  const int32_t high = (twice >> 16) * (multiplier >> 16) + (first >> 16) + (((second >> 15) + 1) >> 1);
#elif defined(__riscv_mul) && __riscv_xlen == 32
  /* By twice the multiplier, the high word of one product has the bit that rounds. */
  int32_t high;
  __asm__("mulhsu %0, %1, %2" : "=r"(high) : "r"(twice), "r"((uint32_t)multiplier << 1));
  high = (high + 1) >> 1;
#elif defined(__clang__) && defined(__thumb__) && __ARM_ARCH_ISA_THUMB >= 2
  /* Clang would multiply without signs and correct the product. */
  int32_t low;
  int32_t high;
  __asm__("smull %0, %1, %2, %3" : "=&r"(low), "=&r"(high) : "r"(twice), "r"(multiplier));
  high += (int32_t)((uint32_t)low >> 31);
#else
  const int64_t product = (int64_t)twice * multiplier;
  const int32_t high = (int32_t)(product >> 32) + (int32_t)((uint32_t)product >> 31);
#endif
  return (high + (1 << (shift - 1)) + (high >> 31)) >> shift;
}
