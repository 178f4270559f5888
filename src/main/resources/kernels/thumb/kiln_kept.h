// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* The value, computed by now: Clang for Armv6-M would compute one sum after the other, and keep on the stack what they share. */
static inline int32_t kiln_kept(int32_t value) {
#if defined(__clang__) && defined(__thumb__) && __ARM_ARCH_ISA_THUMB == 1
  __asm__ volatile("" : "+r"(value));
#endif
  return value;
}
