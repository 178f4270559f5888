// SPDX-License-Identifier: Apache-2.0
// T is the type of the elements, S that of sums, E that of values between them. SUM makes a sum's operand of a value.
#pragma once
#include <stdint.h>
#include "kiln_fft_next.h"
#include "kiln_products_32.h"
#include "fft_passes.h"
#define NAME kiln_irfft_32
#define T int32_t
#define S uint32_t
#define E int32_t
#define PRODUCTS kiln_products_32
#define SUM(value) (uint32_t)value
#define HALF(value) kiln_products_32(value, 1073741823, 0, 0)
#define PASSES kiln_rfft_32_passes
#define JOIN kiln_irfft_32_join
#define FINISH

/* Number k of n complex ones of which even and odd real numbers are the parts, from their spectrum. */
static void JOIN(T* x, const T* data, const T* split_roots, int32_t k, int32_t n) {
  const int32_t low = 2 * k < n ? k : n - k;
  const T* a = data + 2 * low;
  const T* b = data + 2 * (n - low);
  const T minus_b = (T)(0 - SUM(b[1]));
  const E a_re = HALF(a[0]);
  const E a_im = HALF(a[1]);
  const E b_re = HALF(b[0]);
  const E b_im = HALF(minus_b);
  const T* root = split_roots + 2 * (low - 1);
  const S odd_re = SUM(PRODUCTS(a_re - b_re, root[0], a_im - b_im, -root[1]));
  const S odd_im = SUM(PRODUCTS(a_re - b_re, root[1], a_im - b_im, root[0]));
  const S even_re = SUM((a_re + b_re));
  const S even_im = SUM((a_im + b_im));
  x[0] = (T)(2 * k < n ? even_re + odd_re : even_re - odd_re);
  x[1] = (T)(2 * k < n ? even_im + odd_im : odd_im - even_im);
}

/* The 2 * n real numbers of a spectrum. */
static void NAME(T* restrict x, const T* restrict data, const T* roots, const T* split_roots, int32_t n) {
  const T first_re = (T)(SUM(data[0]) + SUM(data[2 * n]));
  const T first_im = (T)(SUM(data[0]) - SUM(data[2 * n]));
  x[0] = (T)HALF(first_re);
  x[1] = (T)HALF(first_im);
  int32_t place = kiln_fft_next(0, n);
  for (int32_t k = 1; k < n; ++k) {
    JOIN(x + 2 * place, data, split_roots, k, n);
    place = kiln_fft_next(place, n);
  }
  PASSES(x, roots, n);
  FINISH
}
