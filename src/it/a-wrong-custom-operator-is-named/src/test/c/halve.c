/* SPDX-License-Identifier: Apache-2.0 */
#include "halve.h"

int32_t halve(const int8_t* input0, int8_t* output0) {
  for (int32_t i = 0; i < 16; ++i) {
    output0[i] = (int8_t)(input0[i] / 2);
  }
  return 0;
}
