// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_pair_inputs_9
#define COUNT 9
#define ASSEMBLY ""
#define INPUTS [first] "l"(first), [second] "l"(second)

/* first[i] + 65536 * second[i] of COUNT inputs. */
static inline void NAME(const int8_t* first, const int8_t* second, int32_t* pairs) {
#if defined(__thumb__) && __ARM_ARCH_ISA_THUMB == 1
  int32_t i;
  int32_t a;
  int32_t b;
  __asm__ volatile(
      ".syntax unified\n"
      "movs %[i], #0\n"
ASSEMBLY
      : [pairs] "+l"(pairs), [i] "=&l"(i), [a] "=&l"(a), [b] "=&l"(b)
      : INPUTS
      : "cc", "memory");
#else
  for (int32_t i = 0; i < COUNT; ++i) {
    pairs[i] = first[i] + second[i] * 65536;
  }
#endif
}
