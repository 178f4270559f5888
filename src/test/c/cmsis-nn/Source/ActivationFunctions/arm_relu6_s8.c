/* SPDX-License-Identifier: Apache-2.0 */
#include "arm_nnfunctions.h"

/* Nothing that Kiln generates calls this function. */
void arm_relu6_s8(int8_t* data, uint16_t size) {
  while (size > 0) {
    --size;
    if (data[size] < 0) {
      data[size] = 0;
    }
  }
}
