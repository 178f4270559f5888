// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Zero, which GCC does not know: so it loads constants from a table, instead of building each of them in code, as Clang does better. */
static inline int32_t kiln_unknown_zero(void) {
  int32_t zero = 0;
#if defined(__GNUC__) && !defined(__clang__)
  __asm__("" : "+r"(zero));
#endif
  return zero;
}
