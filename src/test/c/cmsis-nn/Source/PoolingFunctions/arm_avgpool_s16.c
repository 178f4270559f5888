/* SPDX-License-Identifier: Apache-2.0 */
#include "arm_nnfunctions.h"
#include "arm_nnsupportfunctions.h"

arm_cmsis_nn_status arm_avgpool_s16(
    const cmsis_nn_context* ctx, const cmsis_nn_pool_params* params, const cmsis_nn_dims* input_dims, const int16_t* input,
    const cmsis_nn_dims* filter_dims, const cmsis_nn_dims* output_dims, int16_t* output) {
  int32_t bytes = 0;
#if defined(__ARM_FEATURE_DSP) && !defined(__ARM_FEATURE_MVE)
  bytes = input_dims->c * 4;
#endif
  const arm_cmsis_nn_status status = stand_in_use(ctx, bytes);
  if (status != ARM_CMSIS_NN_SUCCESS) {
    return status;
  }
  for (int32_t y = 0; y < output_dims->h; ++y) {
    for (int32_t x = 0; x < output_dims->w; ++x) {
      for (int32_t c = 0; c < output_dims->c; ++c) {
        int32_t acc = 0;
        int32_t count = 0;
        for (int32_t ky = 0; ky < filter_dims->h; ++ky) {
          for (int32_t kx = 0; kx < filter_dims->w; ++kx) {
            const int32_t in_y = y * params->stride.h - params->padding.h + ky;
            const int32_t in_x = x * params->stride.w - params->padding.w + kx;
            if (in_y < 0 || in_y >= input_dims->h || in_x < 0 || in_x >= input_dims->w) {
              continue;
            }
            const int32_t value = input[(in_y * input_dims->w + in_x) * input_dims->c + c];
            acc += value;
            ++count;
          }
        }
        if (count == 0) {
          return ARM_CMSIS_NN_ARG_ERROR;
        }
        acc = acc > 0 ? (acc + count / 2) / count : (acc - count / 2) / count;
        output[(y * output_dims->w + x) * output_dims->c + c] =
            (int16_t)stand_in_clamp(acc, params->activation.min, params->activation.max);
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
