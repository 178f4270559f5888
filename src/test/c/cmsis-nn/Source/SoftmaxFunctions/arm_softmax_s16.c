/* SPDX-License-Identifier: Apache-2.0 */
#include "arm_nnfunctions.h"
#include "arm_nnsupportfunctions.h"

static int32_t looked_up(const int16_t* table, int32_t value) {
  const int32_t limited = stand_in_clamp(value, -32768, 32767);
  const int32_t index = 256 + (limited >> 7);
  const int32_t slope = table[index + 1] - table[index];
  return table[index] + ((slope * (limited & 127) + 64) >> 7);
}

arm_cmsis_nn_status arm_softmax_s16(
    const int16_t* input, const int32_t num_rows, const int32_t row_size, const int32_t mult, const int32_t shift,
    const cmsis_nn_softmax_lut_s16* softmax_params, int16_t* output) {
  for (int32_t row = 0; row < num_rows; ++row) {
    const int16_t* in = input + row * row_size;
    int16_t* out = output + row * row_size;
    int32_t max = in[0];
    for (int32_t i = 1; i < row_size; ++i) {
      max = in[i] > max ? in[i] : max;
    }
    int32_t sum = 0;
    for (int32_t i = 0; i < row_size; ++i) {
      const int32_t exp = looked_up(softmax_params->exp_lut, arm_nn_requantize(in[i] - max, mult, shift) + 32767);
      out[i] = (int16_t)exp;
      sum += exp;
    }
    int32_t zeros = 0;
    while ((uint32_t)sum << zeros < 0x80000000u) {
      ++zeros;
    }
    const int32_t shifted = (int32_t)((((uint32_t)sum << (zeros - 1)) + (1 << 13)) >> 14);
    const int32_t one_by_sum = looked_up(softmax_params->one_by_one_lut, shifted - (3 << 15));
    const int32_t bits = 31 - zeros;
    for (int32_t i = 0; i < row_size; ++i) {
      out[i] = (int16_t)stand_in_clamp((out[i] * one_by_sum + (1 << (bits - 1))) >> bits, 0, 32767);
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
