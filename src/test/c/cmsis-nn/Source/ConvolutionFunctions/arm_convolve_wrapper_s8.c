/* SPDX-License-Identifier: Apache-2.0 */
#include "arm_nnfunctions.h"
#include "arm_nnsupportfunctions.h"
#include <stdio.h>

/* Limits its results itself, unlike arm_relu6_s8(). */

arm_cmsis_nn_status arm_convolve_wrapper_s8(
    const cmsis_nn_context* ctx, const cmsis_nn_conv_params* params,
    const cmsis_nn_per_channel_quant_params* quant_params, const cmsis_nn_dims* input_dims, const int8_t* input,
    const cmsis_nn_dims* filter_dims, const int8_t* filter, const cmsis_nn_dims* bias_dims, const int32_t* bias,
    const cmsis_nn_dims* output_dims, int8_t* output) {
  (void)bias_dims;
  if (filter_dims->w == 1 && filter_dims->h == 1 && params->padding.w == 0 && params->padding.h == 0 &&
      params->dilation.w == 1 && params->dilation.h == 1) {
    return arm_convolve_1x1_s8(params, quant_params, input_dims, input, filter, bias, output_dims, output);
  }
#if defined(__ARM_FEATURE_MVE)
  const int32_t is_row = input_dims->h == 1 && filter_dims->h == 1 && params->dilation.w == 1;
  if (is_row && params->stride.w * input_dims->c % 4 == 0) {
    return arm_convolve_1_x_n_s8(
        ctx, params, quant_params, input_dims, input, filter_dims, filter, bias, output_dims, output);
  }
#endif
  return arm_convolve_s8(
      ctx, params, quant_params, input_dims, input, filter_dims, filter, bias, output_dims, output);
}
