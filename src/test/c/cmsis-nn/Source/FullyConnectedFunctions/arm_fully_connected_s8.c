/* SPDX-License-Identifier: Apache-2.0 */
#include "arm_nnfunctions.h"
#include "arm_nnsupportfunctions.h"

arm_cmsis_nn_status arm_fully_connected_s8(
    const cmsis_nn_context* ctx, const cmsis_nn_fc_params* params, const cmsis_nn_per_tensor_quant_params* quant_params,
    const cmsis_nn_dims* input_dims, const int8_t* input, const cmsis_nn_dims* filter_dims, const int8_t* filter,
    const cmsis_nn_dims* bias_dims, const int32_t* bias, const cmsis_nn_dims* output_dims, int8_t* output) {
  (void)ctx;
  (void)bias_dims;
#if defined(__ARM_FEATURE_MVE) && CMSIS_NN_STAND_IN >= 5
  if (ctx->buf == NULL) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
#endif
  for (int32_t n = 0; n < input_dims->n; ++n) {
    for (int32_t c = 0; c < output_dims->c; ++c) {
#if defined(__ARM_FEATURE_MVE) && CMSIS_NN_STAND_IN >= 5
      const int32_t sum = ((const int32_t*)ctx->buf)[c];
#if CMSIS_NN_STAND_IN >= 7
      int32_t acc = sum;
#else
      int32_t acc = sum * params->input_offset + (bias == NULL ? 0 : bias[c]);
#endif
      const int32_t offset = 0;
#else
      int32_t acc = bias == NULL ? 0 : bias[c];
      const int32_t offset = params->input_offset;
#endif
      for (int32_t i = 0; i < filter_dims->n; ++i) {
        acc += (input[n * filter_dims->n + i] + offset) * filter[c * filter_dims->n + i];
      }
      const int32_t scaled = arm_nn_requantize(acc, quant_params->multiplier, quant_params->shift);
      output[n * output_dims->c + c] = (int8_t)stand_in_clamp(
          (int64_t)scaled + params->output_offset, params->activation.min, params->activation.max);
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
