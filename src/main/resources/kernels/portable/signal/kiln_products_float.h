// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* a * b + c * d */
static inline float kiln_products_float(float a, float b, float c, float d) {
  return a * b + c * d;
}
