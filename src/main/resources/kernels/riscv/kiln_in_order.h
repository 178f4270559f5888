// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Keeps later loads from moving up, where they would need more registers than there are. */
static inline void kiln_in_order(void) {
#if defined(__riscv)
  __asm__ volatile("" : : : "memory");
#endif
}
