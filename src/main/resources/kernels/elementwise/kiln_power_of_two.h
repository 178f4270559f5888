// SPDX-License-Identifier: Apache-2.0
#pragma once

/*
 * A power of two that clang does not recognise: for vectors of integers that are converted and then multiplied by one, it takes
 * the number of a register for the number of fraction bits of VCVT (LLVM 20).
 */
static inline float kiln_power_of_two(float value) {
#if defined(__ARM_FEATURE_MVE) && defined(__clang__)
  __asm__("" : "+t"(value));
#endif
  return value;
}
