// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_soft_fix
#define FORMAT fixed
#define CENTRE 0
#define START
#define COUNT

/*
 * The inputs of a window as integers: the largest is less than 2^bits, or that. x[0] is the exponent of the largest, x[1] the least magnitude of a
 * sum that is precise enough: (the sum of all magnitudes) * factor >> shift, plus least. It is out of reach if an input is infinite or NaN, or all
 * are tiny. x[2] is what is added to a sum, because products are rounded down: CENTRE, of inputs that are not 0.
 */
static __attribute__((noinline)) void NAME(
    const float* in, int32_t* x, int32_t taps, int32_t padded, int32_t bits, int32_t factor, int32_t shift, int32_t least) {
  uint32_t most = 0;
  for (int32_t i = 0; i < taps; ++i) {
    const union { float value; uint32_t bits; } input = {in[i]};
    const uint32_t magnitude = input.bits << 1;
    most = magnitude > most ? magnitude : most;
  }
  const uint32_t top = most >> 24;
  x[0] = (int32_t)top;
  if (most == 0) {
    for (int32_t i = 1; i < padded + 3; ++i) {
      x[i] = 0;
    }
    return;
  }
  const int32_t is_special = top == 255u || top < 40u;
  uint32_t sum = 0;
START
  for (int32_t i = 0; i < taps; ++i) {
    const union { float value; uint32_t bits; } input = {in[i]};
    const uint32_t below = top - (input.bits >> 23 & 255u);
    const uint32_t significand = ((input.bits & 0x7fffffu) | 0x800000u) << (bits - 23);
    const uint32_t magnitude = below > 31u ? 0u : ((significand >> below) + 1u) >> 1;
    sum += magnitude >> 12;
COUNT
    const int32_t fixed = (int32_t)input.bits < 0 ? -(int32_t)magnitude : (int32_t)magnitude;
    x[i + 3] = FORMAT;
  }
  for (int32_t i = taps; i < padded; ++i) {
    x[i + 3] = 0;
  }
  sum = ((sum + (uint32_t)taps) >> 8) + 1u;
  x[2] = CENTRE;
  x[1] = is_special ? -1 : (int32_t)(sum * (uint32_t)factor >> shift) + least;
}
