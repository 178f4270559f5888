/* SPDX-License-Identifier: Apache-2.0 */
#include "arm_nnfunctions.h"
#include "arm_nnsupportfunctions.h"

arm_cmsis_nn_status arm_elementwise_add_s16(
    const int16_t* input_1, const int16_t* input_2, const int32_t offset_1, const int32_t mult_1, const int32_t shift_1,
    const int32_t offset_2, const int32_t mult_2, const int32_t shift_2, const int32_t left_shift, int16_t* output,
    const int32_t out_offset, const int32_t out_mult, const int32_t out_shift, const int32_t min, const int32_t max,
    const int32_t size) {
  for (int32_t i = 0; i < size; ++i) {
    const int32_t a = arm_nn_requantize((int32_t)((uint32_t)(input_1[i] + offset_1) << left_shift), mult_1, shift_1);
    const int32_t b = arm_nn_requantize((int32_t)((uint32_t)(input_2[i] + offset_2) << left_shift), mult_2, shift_2);
    const int32_t sum = arm_nn_requantize(a + b, out_mult, out_shift);
    output[i] = (int16_t)stand_in_clamp((int64_t)sum + out_offset, min, max);
  }
  return ARM_CMSIS_NN_SUCCESS;
}
