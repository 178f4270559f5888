/* SPDX-License-Identifier: Apache-2.0 */
#include "arm_nnfunctions.h"
#include "arm_nnsupportfunctions.h"

arm_cmsis_nn_status arm_convolve_wrapper_s16(
    const cmsis_nn_context* ctx, const cmsis_nn_conv_params* params,
    const cmsis_nn_per_channel_quant_params* quant_params, const cmsis_nn_dims* input_dims, const int16_t* input,
    const cmsis_nn_dims* filter_dims, const int8_t* filter, const cmsis_nn_dims* bias_dims, const stand_in_wide_bias* bias,
    const cmsis_nn_dims* output_dims, int16_t* output) {
  (void)bias_dims;
  int32_t bytes = 2 * input_dims->c * filter_dims->w * filter_dims->h * 2;
#if CMSIS_NN_STAND_IN < 6
  bytes = 0;
#elif defined(__ARM_FEATURE_MVE)
  bytes = 4 * ((input_dims->c * filter_dims->w * filter_dims->h + 7) / 8) * 8 * 2;
#endif
  const arm_cmsis_nn_status status = stand_in_use(ctx, bytes);
  if (status != ARM_CMSIS_NN_SUCCESS) {
    return status;
  }
  for (int32_t n = 0; n < output_dims->n; ++n) {
    for (int32_t y = 0; y < output_dims->h; ++y) {
      for (int32_t x = 0; x < output_dims->w; ++x) {
        for (int32_t c = 0; c < output_dims->c; ++c) {
#if CMSIS_NN_STAND_IN >= 6
          int64_t acc = 0;
          if (bias->data != NULL) {
            acc = bias->is_int32_bias ? ((const int32_t*)bias->data)[c] : ((const int64_t*)bias->data)[c];
          }
#else
          int64_t acc = bias == NULL ? 0 : bias[c];
#endif
          for (int32_t ky = 0; ky < filter_dims->h; ++ky) {
            for (int32_t kx = 0; kx < filter_dims->w; ++kx) {
              const int32_t in_y = y * params->stride.h - params->padding.h + ky * params->dilation.h;
              const int32_t in_x = x * params->stride.w - params->padding.w + kx * params->dilation.w;
              if (in_y < 0 || in_y >= input_dims->h || in_x < 0 || in_x >= input_dims->w) {
                continue;
              }
              for (int32_t i = 0; i < input_dims->c; ++i) {
                const int32_t at = ((n * input_dims->h + in_y) * input_dims->w + in_x) * input_dims->c + i;
                acc += (input[at] + params->input_offset) *
                       filter[((c * filter_dims->h + ky) * filter_dims->w + kx) * input_dims->c + i];
              }
            }
          }
          const int32_t scaled = arm_nn_requantize_s64(acc, quant_params->multiplier[c], quant_params->shift[c]);
          output[((n * output_dims->h + y) * output_dims->w + x) * output_dims->c + c] = (int16_t)stand_in_clamp(
              (int64_t)scaled + params->output_offset, params->activation.min, params->activation.max);
        }
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
