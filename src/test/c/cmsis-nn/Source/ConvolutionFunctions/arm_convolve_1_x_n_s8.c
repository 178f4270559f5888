/* SPDX-License-Identifier: Apache-2.0 */
#include "arm_nnfunctions.h"
#include "arm_nnsupportfunctions.h"

/* The results of windows that follow each other by a stride. */
static int8_t* windows(
    int32_t count, const int8_t* window, const cmsis_nn_conv_params* params,
    const cmsis_nn_per_channel_quant_params* quant_params, int32_t channels, int32_t taps, const int8_t* filter,
    const int32_t* bias, int32_t results, int8_t* output) {
  for (int32_t w = 0; w < count; ++w) {
    for (int32_t c = 0; c < results; ++c) {
      int32_t acc = bias == NULL ? 0 : bias[c];
      for (int32_t i = 0; i < taps * channels; ++i) {
        acc += (window[i] + params->input_offset) * filter[c * taps * channels + i];
      }
      *output++ = stand_in_result(acc, c, params, quant_params);
    }
    window += params->stride.w * channels;
  }
  return output;
}

/* For MVE. Windows over an end of the row are read from a copy of that end: all pixels of a window at the left, all but
 * one at the right. The padding is that at the left, twice, or one pixel more. */
arm_cmsis_nn_status arm_convolve_1_x_n_s8(
    const cmsis_nn_context* ctx, const cmsis_nn_conv_params* params,
    const cmsis_nn_per_channel_quant_params* quant_params, const cmsis_nn_dims* input_dims, const int8_t* input,
    const cmsis_nn_dims* filter_dims, const int8_t* filter, const int32_t* bias, const cmsis_nn_dims* output_dims,
    int8_t* output) {
  const int32_t taps = filter_dims->w;
  const int32_t channels = input_dims->c;
  const int32_t stride = params->stride.w;
  const int32_t pad = params->padding.w;
  const int32_t padding = (output_dims->w - 1) * stride + taps - input_dims->w;
  const int32_t odd = padding % 2;
  if (2 * pad + odd != padding) {
    return ARM_CMSIS_NN_FAILURE;
  }
  const int32_t left = (pad + stride - 1) / stride;
  const int32_t over = (pad + odd + stride - 1) / stride;
  const int32_t right = pad + odd == 0 ? 0 : over > 1 ? over : 1;
  const int32_t middle = output_dims->w - left - right;
  if (middle < 0) {
#if CMSIS_NN_STAND_IN >= 6
    return arm_convolve_s8(
        ctx, params, quant_params, input_dims, input, filter_dims, filter, bias, output_dims, output);
#else
    return ARM_CMSIS_NN_FAILURE;
#endif
  }
  const int32_t after = odd ? right : pad;
  const int32_t most = taps + pad > taps - 1 + after ? taps + pad : taps - 1 + after;
  const arm_cmsis_nn_status status = stand_in_use(ctx, most * channels);
  if (status != ARM_CMSIS_NN_SUCCESS) {
    return status;
  }
  int8_t* copy = ctx->buf;
  for (int32_t n = 0; n < output_dims->n; ++n) {
    memset(copy, -params->input_offset, (size_t)(pad * channels));
    memcpy(copy + pad * channels, input, (size_t)(left == 0 ? 0 : taps * channels));
    output = windows(
        left, copy, params, quant_params, channels, taps, filter, bias, output_dims->c, output);
    const int8_t* from = input + (left * stride - pad) * channels;
    output = windows(
        middle, from, params, quant_params, channels, taps, filter, bias, output_dims->c, output);
    from += middle * stride * channels;
    memcpy(copy, from, (size_t)(right == 0 ? 0 : (taps - 1) * channels));
    memset(copy + (taps - 1) * channels, -params->input_offset, (size_t)(after * channels));
    output = windows(
        right, copy, params, quant_params, channels, taps, filter, bias, output_dims->c, output);
    input += input_dims->w * channels;
  }
  return ARM_CMSIS_NN_SUCCESS;
}
