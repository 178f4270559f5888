// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_soft_zeros.h"
#define INPUT x[i]

/* Whether the magnitudes of products together reach a limit. Those behind are not needed. */
static int32_t kiln_soft_ends_reach(const int32_t* x, const int32_t* w, const int32_t* layer) {
  uint32_t sum = 0;
  for (int32_t i = 0; i < layer[8] && sum < (uint32_t)layer[7]; ++i, w += layer[9] / 4) {
    const int32_t input = INPUT;
    const int32_t weight = *w >> (*w & 31);
    sum += ((uint32_t)(input ^ (input >> 31)) >> 16) * ((uint32_t)(weight ^ (weight >> 31)) >> 16);
  }
  return sum >= (uint32_t)layer[7];
}

/*
 * Results of channels, as long as a sum is precise enough and its float is of usual size: sum * 2^exponent plus a bias, rounded to the nearest float and
 * limited. The bias is added to the sum as an integer. x, w: inputs and weights of the first channel.
 * layer, by number: 0 channels, counted down; 1 what an exponent is without the channel's scale, plus 150; 2 the least magnitude of a sum without its
 * lowest bits; 3 what is added to sums, 0 on Armv7-M; 4 and 5 limits, by the order of their bits; 6 number of the lowest bits, 32 on Armv7-M and 16
 * otherwise; 7 the limit for the magnitudes of products if a sum is smaller; 8 number of products; 9 bytes from one weight to the next; 10 becomes 1 if
 * the next sum is not precise enough.
 */
static void kiln_soft_ends(
    const int64_t* sums, const float* bias, const int16_t* scale, float* out, int32_t* layer, const int32_t* x, const int32_t* w) {
  for (; layer[0] > 0; --layer[0], ++sums, ++bias, ++scale, ++out, ++w) {
    const union { float value; uint32_t bits; } start = {*bias};
    const int32_t exponent = layer[1] + *scale;
    const int64_t sum = *sums + layer[3];
    const int32_t field = (int32_t)(start.bits >> 23 & 255u);
    const int32_t place = field - exponent;
    const int32_t has_bias = start.bits << 1 != 0;
    const uint64_t magnitude = (uint64_t)(sum ^ (sum >> 63)) >> layer[6];
    if (magnitude < (uint32_t)layer[2] && (layer[2] == -1 || !kiln_soft_ends_reach(x, w, layer))) {
      layer[10] = 1;
      return;
    }
    /* A sum that does not count beside its bias is left out. */
    int32_t order = (int32_t)start.bits ^ (int32_t)((0u - (start.bits >> 31)) >> 1);
    if (has_bias && (field == 0 || (place > 38 && place < 70))) {
      return;
    }
    if (!has_bias || place <= 38) {
      const int64_t significand = has_bias ? (int64_t)((start.bits & 0x7fffffu) | 0x800000u) : 0;
      const int64_t part = place >= 0 && has_bias ? significand * ((int64_t)1 << place) : significand >> (place > -31 ? -place & 31 : 31);
      const int64_t both = (int32_t)start.bits < 0 ? -part : part;
      const uint64_t total = (uint64_t)sum + (uint64_t)both;
      const uint64_t sign = total >> 63 != 0u ? UINT64_MAX : 0u;
      uint64_t first = total ^ sign;
      if ((((uint64_t)sum ^ total) & ((uint64_t)both ^ total)) >> 63 != 0u || first == 0u) {
        return;
      }
      const int32_t zeros = first >> 32 != 0u ? kiln_soft_zeros((uint32_t)(first >> 32)) : 32 + kiln_soft_zeros((uint32_t)first);
      first = first << zeros >> 32;
      const int32_t upper = exponent + 39 - zeros;
      if ((uint32_t)upper > 253u) {
        return;
      }
      order = (int32_t)(((uint32_t)upper << 23) + (uint32_t)(first >> 8) + (uint32_t)(first >> 7 & 1u)) ^ (int32_t)(uint32_t)sign;
    }
    const int32_t limited = order < layer[4] ? layer[4] : order > layer[5] ? layer[5] : order;
    const union { uint32_t bits; float value; } result = {(uint32_t)(limited < 0 ? limited ^ INT32_MAX : limited)};
    *out = result.value;
  }
}
