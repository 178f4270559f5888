// SPDX-License-Identifier: Apache-2.0
// T is the type of the elements, S that of sums, E that of values between them. SUM makes a sum's operand of a value.
#pragma once
#include <stdint.h>
#include "kiln_products_32.h"
#define PASSES kiln_rfft_32_passes
#define T int32_t
#define S uint32_t
#define E int32_t
#define PRODUCTS kiln_products_32
#define SUM(value) (uint32_t)value
#define HALF(value) kiln_products_32(value, 1073741823, 0, 0)
#define QUARTER(value) kiln_products_32(value, 536870911, 0, 0)
#define TURN_RE SUM(b_im) - SUM(d_im)
#define TURN_IM SUM(d_re) - SUM(b_re)

/* Transforms n complex numbers in place; they come in the order of their reversed digits. */
static void PASSES(T* x, const T* roots, int32_t n) {
  int32_t m = 1;
  if ((n & 0x55555555) == 0) {
    for (int32_t i = 0; i < 2 * n; i += 4) {
      const S re = SUM(HALF(x[i]));
      const S im = SUM(HALF(x[i + 1]));
      const S b_re = SUM(HALF(x[i + 2]));
      const S b_im = SUM(HALF(x[i + 3]));
      x[i] = (T)(re + b_re);
      x[i + 1] = (T)(im + b_im);
      x[i + 2] = (T)(re - b_re);
      x[i + 3] = (T)(im - b_im);
    }
    m = 2;
  }
  for (; m < n; m *= 4) {
    const int32_t stride = n / (2 * m);
    for (int32_t k = 0; k < m; ++k) {
      const T* r1 = roots + k * stride;
      const T* r2 = r1 + k * stride;
      const T* r3 = r2 + k * stride;
      for (int32_t i = 2 * k; i < 2 * n; i += 8 * m) {
        T* a = x + i;
        T* b = a + 2 * m;
        T* c = b + 2 * m;
        T* d = c + 2 * m;
        E b_re = QUARTER(b[0]);
        E b_im = QUARTER(b[1]);
        E c_re = QUARTER(c[0]);
        E c_im = QUARTER(c[1]);
        E d_re = QUARTER(d[0]);
        E d_im = QUARTER(d[1]);
        if (k > 0) {
          const E b_was = b_re;
          const E c_was = c_re;
          const E d_was = d_re;
          b_re = PRODUCTS(b_was, r1[0], b_im, -r1[1]);
          b_im = PRODUCTS(b_was, r1[1], b_im, r1[0]);
          c_re = PRODUCTS(c_was, r2[0], c_im, -r2[1]);
          c_im = PRODUCTS(c_was, r2[1], c_im, r2[0]);
          d_re = PRODUCTS(d_was, r3[0], d_im, -r3[1]);
          d_im = PRODUCTS(d_was, r3[1], d_im, r3[0]);
        }
        const S a_re = SUM(QUARTER(a[0]));
        const S a_im = SUM(QUARTER(a[1]));
        const S even_re = a_re + SUM(c_re);
        const S even_im = a_im + SUM(c_im);
        const S rest_re = a_re - SUM(c_re);
        const S rest_im = a_im - SUM(c_im);
        const S odd_re = SUM(b_re) + SUM(d_re);
        const S odd_im = SUM(b_im) + SUM(d_im);
        const S turn_re = TURN_RE;
        const S turn_im = TURN_IM;
        a[0] = (T)(even_re + odd_re);
        a[1] = (T)(even_im + odd_im);
        b[0] = (T)(rest_re + turn_re);
        b[1] = (T)(rest_im + turn_im);
        c[0] = (T)(even_re - odd_re);
        c[1] = (T)(even_im - odd_im);
        d[0] = (T)(rest_re - turn_re);
        d[1] = (T)(rest_im - turn_im);
      }
    }
  }
}
