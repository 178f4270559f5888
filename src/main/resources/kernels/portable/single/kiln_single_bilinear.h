// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_single_divide.h"
#include "kiln_single_multiply.h"
#include "kiln_single_round.h"
#include "kiln_single_sum.h"

/* The bits of weight * (value * scale), each product rounded. */
static inline uint32_t kiln_single_term(int32_t value, uint32_t weight, uint32_t scale) {
  const uint32_t magnitude = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
  const uint32_t term = kiln_single_multiply(weight, kiln_single_multiply(kiln_single(magnitude, 0), scale));
  return value < 0 && term != 0u ? term | 1u << 31 : term;
}

/*
 * Four bytes less their zero point (upper left, upper right, lower left, lower right), weighted and divided by a scale, as single
 * precision computes it: weights are dx1 (right), dx2, dy1 (lower) and dy2, rounding is half to even.
 */
static inline int32_t kiln_single_bilinear(int32_t a, int32_t b, int32_t c, int32_t d, uint32_t dx1, uint32_t dx2,
                                           uint32_t dy1, uint32_t dy2, uint32_t from, uint32_t to) {
  uint32_t sum = kiln_single_term(a, kiln_single_multiply(dx2, dy2), from);
  sum = kiln_single_sum(sum, kiln_single_term(b, kiln_single_multiply(dx1, dy2), from));
  sum = kiln_single_sum(sum, kiln_single_term(c, kiln_single_multiply(dx2, dy1), from));
  sum = kiln_single_sum(sum, kiln_single_term(d, kiln_single_multiply(dx1, dy1), from));
  const int32_t rounded = kiln_single_round(kiln_single_divide(sum & ~(1u << 31), to));
  return (sum >> 31) != 0u ? -rounded : rounded;
}
