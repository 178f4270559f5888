// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_sums_pair_x2.h"

/* The same as a function of its own. */
__attribute__((noinline)) static void kiln_sums_of_pair_x2(const int32_t* x, const int8_t* w, int32_t* sums, int32_t taps) {
  kiln_sums_pair_x2(x, w, taps, sums);
}
