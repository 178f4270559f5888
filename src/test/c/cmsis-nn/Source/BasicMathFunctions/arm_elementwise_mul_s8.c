/* SPDX-License-Identifier: Apache-2.0 */
#include "arm_nnfunctions.h"
#include "arm_nnsupportfunctions.h"

arm_cmsis_nn_status arm_elementwise_mul_s8(
    const int8_t* input_1, const int8_t* input_2, const int32_t offset_1, const int32_t offset_2, int8_t* output,
    const int32_t out_offset, const int32_t out_mult, const int32_t out_shift, const int32_t min, const int32_t max,
    const int32_t size) {
  for (int32_t i = 0; i < size; ++i) {
    const int32_t product = (input_1[i] + offset_1) * (input_2[i] + offset_2);
    output[i] = (int8_t)stand_in_clamp((int64_t)arm_nn_requantize(product, out_mult, out_shift) + out_offset, min, max);
  }
  return ARM_CMSIS_NN_SUCCESS;
}
