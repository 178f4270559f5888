/* SPDX-License-Identifier: Apache-2.0 */
#include "arm_nnfunctions.h"

#include "arm_nnsupportfunctions.h"

/* Reads one pixel for each result, wherever it lies: there is no padding, not even at the right and the bottom. */
arm_cmsis_nn_status arm_convolve_1x1_s8(
    const cmsis_nn_conv_params* params, const cmsis_nn_per_channel_quant_params* quant_params,
    const cmsis_nn_dims* input_dims, const int8_t* input, const int8_t* filter, const int32_t* bias,
    const cmsis_nn_dims* output_dims, int8_t* output) {
  for (int32_t n = 0; n < output_dims->n; ++n) {
    for (int32_t y = 0; y < output_dims->h; ++y) {
      for (int32_t x = 0; x < output_dims->w; ++x) {
        const int32_t row = n * input_dims->h + y * params->stride.h;
        const int8_t* pixel = input + (row * input_dims->w + x * params->stride.w) * input_dims->c;
        for (int32_t c = 0; c < output_dims->c; ++c) {
          int32_t acc = bias == NULL ? 0 : bias[c];
          for (int32_t i = 0; i < input_dims->c; ++i) {
            acc += (pixel[i] + params->input_offset) * filter[c * input_dims->c + i];
          }
          *output++ = stand_in_result(acc, c, params, quant_params);
        }
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
