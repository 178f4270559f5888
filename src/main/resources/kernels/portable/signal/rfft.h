// SPDX-License-Identifier: Apache-2.0
// T is the type of the elements, S that of sums, E that of values between them. SUM makes a sum's operand of a value.
#pragma once
#include <stdint.h>
#include "kiln_fft_next.h"
#include "kiln_products_32.h"
#include "fft_passes.h"
#define NAME kiln_rfft_32
#define T int32_t
#define S uint32_t
#define E int32_t
#define PRODUCTS kiln_products_32
#define SUM(value) (uint32_t)value
#define HALF(value) kiln_products_32(value, 1073741823, 0, 0)
#define PASSES kiln_rfft_32_passes
#define HALVED(value) ((int32_t)(value) >> 1)

/* The spectrum of real numbers, filled up with 0 to 2 * n: n + 1 pairs of real and imaginary part. */
static void NAME(T* restrict x, const T* restrict data, const T* roots, const T* split_roots, int32_t length, int32_t n) {
  int32_t place = 0;
  for (int32_t i = 0; i < 2 * n; i += 2) {
    x[2 * place] = (T)(i < length ? data[i] : 0);
    x[2 * place + 1] = (T)(i + 1 < length ? data[i + 1] : 0);
    place = kiln_fft_next(place, n);
  }
  PASSES(x, roots, n);
  const S first_re = SUM(HALF(x[0]));
  const S first_im = SUM(HALF(x[1]));
  x[0] = (T)(first_re + first_im);
  x[1] = 0;
  x[2 * n] = (T)(first_re - first_im);
  x[2 * n + 1] = 0;
  for (int32_t k = 1; k <= n / 2; ++k) {
    T* a = x + 2 * k;
    T* b = x + 2 * (n - k);
    const T minus_b = (T)(0 - SUM(b[1]));
    const E a_re = HALF(a[0]);
    const E a_im = HALF(a[1]);
    const E b_re = HALF(b[0]);
    const E b_im = HALF(minus_b);
    const T* root = split_roots + 2 * (k - 1);
    const S odd_re = SUM(PRODUCTS(a_re - b_re, root[0], a_im - b_im, -root[1]));
    const S odd_im = SUM(PRODUCTS(a_re - b_re, root[1], a_im - b_im, root[0]));
    const S even_re = SUM((a_re + b_re));
    const S even_im = SUM((a_im + b_im));
    a[0] = (T)HALVED(even_re + odd_re);
    a[1] = (T)HALVED(even_im + odd_im);
    b[0] = (T)HALVED(even_re - odd_re);
    b[1] = (T)HALVED(odd_im - even_im);
  }
}
