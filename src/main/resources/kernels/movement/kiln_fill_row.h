// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Fills bytes with a value. */
static void kiln_fill_row(int8_t* to, int32_t count, int32_t value) {
  for (int32_t i = 0; i < count; ++i) {
    to[i] = (int8_t)value;
  }
}
