/* SPDX-License-Identifier: Apache-2.0 */
#include "told.h"

int32_t told(
    const int8_t* input0, int8_t* output0, const float* scales, const int32_t* zero_points, const uint8_t* options,
    int32_t options_size) {
  if (options_size != 3 || options[1] != 200 || options[2] != 7) {
    return 1;
  }
  for (int32_t i = 0; i < 4; ++i) {
    const float real = scales[0] * (float)(input0[i] - zero_points[0]) * (float)options[0];
    output0[i] = (int8_t)((int32_t)(real / scales[1]) + zero_points[1]);
  }
  return 0;
}
