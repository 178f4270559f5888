/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARM_NNSUPPORTFUNCTIONS_H
#define ARM_NNSUPPORTFUNCTIONS_H

#include <string.h>

#include "arm_nn_types.h"

static inline int32_t stand_in_clamp(int64_t value, int32_t min, int32_t max) {
  return value < min ? min : value > max ? max : (int32_t)value;
}

/* Rounds twice: in the multiply, then in a shift to the right. */
static inline int32_t arm_nn_requantize(int32_t value, int32_t multiplier, int32_t shift) {
  const int32_t left = shift > 0 ? shift : 0;
  const int32_t right = shift > 0 ? 0 : -shift;
  const int64_t product = (int64_t)(int32_t)((uint32_t)value << left) * multiplier;
  const int32_t high = (int32_t)((product + (1 << 30)) >> 31);
  const int32_t mask = (int32_t)(((int64_t)1 << right) - 1);
  const int32_t threshold = (mask >> 1) + (high < 0);
  return (high >> right) + ((high & mask) > threshold);
}

/* Rounds once, with the multiplier's upper 16 bits. */
static inline int32_t arm_nn_requantize_s64(int64_t value, int32_t multiplier, int32_t shift) {
  const int32_t reduced = multiplier < 0x7FFF0000 ? (multiplier + (1 << 15)) >> 16 : 0x7FFF;
  const int32_t bits = 15 - shift;
  return (int32_t)((value * reduced + ((int64_t)1 << (bits - 1))) >> bits);
}

/* The bytes of the buffer of a convolution that gathers windows of so many elements. */
static inline int32_t stand_in_gathered(int32_t elements) {
#if defined(__ARM_FEATURE_MVE)
  return 4 * ((elements + 15) / 16) * 16;
#else
  return 2 * ((elements + 3) / 4) * 4 * 2;
#endif
}

/* The result of one window of a convolution: bias, scale and limits are those of channel c. */
static inline int8_t stand_in_result(
    int32_t acc, int32_t c, const cmsis_nn_conv_params* params, const cmsis_nn_per_channel_quant_params* quant_params) {
  const int32_t scaled = arm_nn_requantize(acc, quant_params->multiplier[c], quant_params->shift[c]);
  return (int8_t)stand_in_clamp(
      (int64_t)scaled + params->output_offset, params->activation.min, params->activation.max);
}

/* Whether a buffer of so many bytes is there; it is filled, as a function that uses all of it would. */
arm_cmsis_nn_status stand_in_use(const cmsis_nn_context* ctx, int32_t bytes);

#endif
