/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARM_NNFUNCTIONS_H
#define ARM_NNFUNCTIONS_H

#include "arm_nn_types.h"

arm_cmsis_nn_status arm_convolve_wrapper_s8(
    const cmsis_nn_context* ctx, const cmsis_nn_conv_params* params,
    const cmsis_nn_per_channel_quant_params* quant_params, const cmsis_nn_dims* input_dims, const int8_t* input,
    const cmsis_nn_dims* filter_dims, const int8_t* filter, const cmsis_nn_dims* bias_dims, const int32_t* bias,
    const cmsis_nn_dims* output_dims, int8_t* output);

arm_cmsis_nn_status arm_convolve_s8(
    const cmsis_nn_context* ctx, const cmsis_nn_conv_params* params,
    const cmsis_nn_per_channel_quant_params* quant_params, const cmsis_nn_dims* input_dims, const int8_t* input,
    const cmsis_nn_dims* filter_dims, const int8_t* filter, const int32_t* bias, const cmsis_nn_dims* output_dims,
    int8_t* output);

arm_cmsis_nn_status arm_convolve_1x1_s8(
    const cmsis_nn_conv_params* params, const cmsis_nn_per_channel_quant_params* quant_params,
    const cmsis_nn_dims* input_dims, const int8_t* input, const int8_t* filter, const int32_t* bias,
    const cmsis_nn_dims* output_dims, int8_t* output);

arm_cmsis_nn_status arm_convolve_1_x_n_s8(
    const cmsis_nn_context* ctx, const cmsis_nn_conv_params* params,
    const cmsis_nn_per_channel_quant_params* quant_params, const cmsis_nn_dims* input_dims, const int8_t* input,
    const cmsis_nn_dims* filter_dims, const int8_t* filter, const int32_t* bias, const cmsis_nn_dims* output_dims,
    int8_t* output);

arm_cmsis_nn_status arm_convolve_wrapper_s16(
    const cmsis_nn_context* ctx, const cmsis_nn_conv_params* params,
    const cmsis_nn_per_channel_quant_params* quant_params, const cmsis_nn_dims* input_dims, const int16_t* input,
    const cmsis_nn_dims* filter_dims, const int8_t* filter, const cmsis_nn_dims* bias_dims, const stand_in_wide_bias* bias,
    const cmsis_nn_dims* output_dims, int16_t* output);

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(
    const cmsis_nn_context* ctx, const cmsis_nn_dw_conv_params* params,
    const cmsis_nn_per_channel_quant_params* quant_params, const cmsis_nn_dims* input_dims, const int8_t* input,
    const cmsis_nn_dims* filter_dims, const int8_t* filter, const cmsis_nn_dims* bias_dims, const int32_t* bias,
    const cmsis_nn_dims* output_dims, int8_t* output);

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s16(
    const cmsis_nn_context* ctx, const cmsis_nn_dw_conv_params* params,
    const cmsis_nn_per_channel_quant_params* quant_params, const cmsis_nn_dims* input_dims, const int16_t* input,
    const cmsis_nn_dims* filter_dims, const int8_t* filter, const cmsis_nn_dims* bias_dims, const int64_t* bias,
    const cmsis_nn_dims* output_dims, int16_t* output);

arm_cmsis_nn_status arm_fully_connected_s8(
    const cmsis_nn_context* ctx, const cmsis_nn_fc_params* params, const cmsis_nn_per_tensor_quant_params* quant_params,
    const cmsis_nn_dims* input_dims, const int8_t* input, const cmsis_nn_dims* filter_dims, const int8_t* filter,
    const cmsis_nn_dims* bias_dims, const int32_t* bias, const cmsis_nn_dims* output_dims, int8_t* output);

arm_cmsis_nn_status arm_fully_connected_s16(
    const cmsis_nn_context* ctx, const cmsis_nn_fc_params* params, const cmsis_nn_per_tensor_quant_params* quant_params,
    const cmsis_nn_dims* input_dims, const int16_t* input, const cmsis_nn_dims* filter_dims, const int8_t* filter,
    const cmsis_nn_dims* bias_dims, const int64_t* bias, const cmsis_nn_dims* output_dims, int16_t* output);

arm_cmsis_nn_status arm_avgpool_s8(
    const cmsis_nn_context* ctx, const cmsis_nn_pool_params* params, const cmsis_nn_dims* input_dims, const int8_t* input,
    const cmsis_nn_dims* filter_dims, const cmsis_nn_dims* output_dims, int8_t* output);

arm_cmsis_nn_status arm_avgpool_s16(
    const cmsis_nn_context* ctx, const cmsis_nn_pool_params* params, const cmsis_nn_dims* input_dims, const int16_t* input,
    const cmsis_nn_dims* filter_dims, const cmsis_nn_dims* output_dims, int16_t* output);

arm_cmsis_nn_status arm_max_pool_s8(
    const cmsis_nn_context* ctx, const cmsis_nn_pool_params* params, const cmsis_nn_dims* input_dims, const int8_t* input,
    const cmsis_nn_dims* filter_dims, const cmsis_nn_dims* output_dims, int8_t* output);

arm_cmsis_nn_status arm_max_pool_s16(
    const cmsis_nn_context* ctx, const cmsis_nn_pool_params* params, const cmsis_nn_dims* input_dims, const int16_t* input,
    const cmsis_nn_dims* filter_dims, const cmsis_nn_dims* output_dims, int16_t* output);

void arm_relu6_s8(int8_t* data, uint16_t size);

void arm_softmax_s8(
    const int8_t* input, const int32_t num_rows, const int32_t row_size, const int32_t mult, const int32_t shift,
    const int32_t diff_min, int8_t* output);

arm_cmsis_nn_status arm_softmax_s16(
    const int16_t* input, const int32_t num_rows, const int32_t row_size, const int32_t mult, const int32_t shift,
    const cmsis_nn_softmax_lut_s16* softmax_params, int16_t* output);

arm_cmsis_nn_status arm_elementwise_add_s8(
    const int8_t* input_1, const int8_t* input_2, const int32_t offset_1, const int32_t mult_1, const int32_t shift_1,
    const int32_t offset_2, const int32_t mult_2, const int32_t shift_2, const int32_t left_shift, int8_t* output,
    const int32_t out_offset, const int32_t out_mult, const int32_t out_shift, const int32_t min, const int32_t max,
    const int32_t size);

arm_cmsis_nn_status arm_elementwise_add_s16(
    const int16_t* input_1, const int16_t* input_2, const int32_t offset_1, const int32_t mult_1, const int32_t shift_1,
    const int32_t offset_2, const int32_t mult_2, const int32_t shift_2, const int32_t left_shift, int16_t* output,
    const int32_t out_offset, const int32_t out_mult, const int32_t out_shift, const int32_t min, const int32_t max,
    const int32_t size);

arm_cmsis_nn_status arm_elementwise_mul_s8(
    const int8_t* input_1, const int8_t* input_2, const int32_t offset_1, const int32_t offset_2, int8_t* output,
    const int32_t out_offset, const int32_t out_mult, const int32_t out_shift, const int32_t min, const int32_t max,
    const int32_t size);

arm_cmsis_nn_status arm_elementwise_mul_s16(
    const int16_t* input_1, const int16_t* input_2, const int32_t offset_1, const int32_t offset_2, int16_t* output,
    const int32_t out_offset, const int32_t out_mult, const int32_t out_shift, const int32_t min, const int32_t max,
    const int32_t size);

#if CMSIS_NN_STAND_IN >= 7
arm_cmsis_nn_status arm_vector_sum_s8(
    int32_t* sums, const int32_t cols, const int32_t rows, const int8_t* data, const int32_t lhs_offset,
    const int32_t rhs_offset, const int32_t* bias);
#elif CMSIS_NN_STAND_IN >= 5
arm_cmsis_nn_status arm_vector_sum_s8(
    int32_t* sums, const int32_t cols, const int32_t rows, const int8_t* data, const int32_t lhs_offset,
    const int32_t* bias);
#endif

#endif
