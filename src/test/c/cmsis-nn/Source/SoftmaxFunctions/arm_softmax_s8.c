/* SPDX-License-Identifier: Apache-2.0 */
#include "arm_nnfunctions.h"
#include "arm_nnsupportfunctions.h"

static int32_t high_mul(int32_t a, int32_t b) {
  return (int32_t)(((int64_t)a * b + (1 << 30)) >> 31);
}

static int32_t saturated(int64_t value) {
  return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

static int32_t divided(int32_t value, int32_t exponent) {
  const int32_t mask = (int32_t)(((int64_t)1 << exponent) - 1);
  return (value >> exponent) + ((value & mask) > (mask >> 1) + (value < 0));
}

/* exp(value) for value <= 0 with five integer bits, in Q31. */
static int32_t exponential(int32_t value) {
  static const int32_t factors[7] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  const int32_t quarter = (value & ((1 << 24) - 1)) - (1 << 24);
  const int32_t remainder = quarter - value;
  const int32_t x = (int32_t)((uint32_t)quarter << 5) + (1 << 28);
  const int32_t x2 = high_mul(x, x);
  const int32_t term = divided(high_mul(divided(high_mul(x2, x2), 2) + high_mul(x2, x), 715827883) + x2, 1);
  int32_t result = 1895147668 + high_mul(1895147668, x + term);
  for (int32_t i = 0; i < 7; ++i) {
    if (remainder & (1 << (24 + i))) {
      result = high_mul(result, factors[i]);
    }
  }
  return value == 0 ? INT32_MAX : result;
}

/* 1 / (1 + value) for value in [0, 1), in Q31. */
static int32_t reciprocal(int32_t value) {
  const int32_t half = (int32_t)(((int64_t)value + INT32_MAX + 1) / 2);
  int32_t x = 1515870810 + high_mul(half, -1010580540);
  for (int32_t i = 0; i < 3; ++i) {
    x += saturated((int64_t)high_mul(x, (1 << 29) - high_mul(half, x)) * 4);
  }
  return saturated((int64_t)x * 2);
}

void arm_softmax_s8(
    const int8_t* input, const int32_t num_rows, const int32_t row_size, const int32_t mult, const int32_t shift,
    const int32_t diff_min, int8_t* output) {
  for (int32_t row = 0; row < num_rows; ++row) {
    const int8_t* in = input + row * row_size;
    int32_t max = in[0];
    for (int32_t i = 1; i < row_size; ++i) {
      max = in[i] > max ? in[i] : max;
    }
    int32_t sum = 0;
    for (int32_t i = 0; i < row_size; ++i) {
      const int32_t diff = in[i] - max;
      if (diff >= diff_min) {
        sum += divided(exponential(high_mul((int32_t)((uint32_t)diff << shift), mult)), 12);
      }
    }
    int32_t zeros = 0;
    while ((uint32_t)sum << zeros < 0x80000000u) {
      ++zeros;
    }
    const int32_t scale = reciprocal((int32_t)(((uint32_t)sum << zeros) - 0x80000000u));
    const int32_t bits = 12 - zeros + 31 - 8;
    for (int32_t i = 0; i < row_size; ++i) {
      const int32_t diff = in[i] - max;
      int32_t value = -128;
      if (diff >= diff_min) {
        const int32_t exp = exponential(high_mul((int32_t)((uint32_t)diff << shift), mult));
        value = stand_in_clamp((int64_t)divided(high_mul(scale, exp), bits) - 128, -128, 127);
      }
      output[row * row_size + i] = (int8_t)value;
    }
  }
}
