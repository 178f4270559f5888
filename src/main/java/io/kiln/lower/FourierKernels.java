// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;

import io.kiln.base.DType;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.ArrayList;
import java.util.List;

/**
 * C of {@link io.kiln.ir.op.SignalFft}, one text for all element types. Passes over complex numbers in the order of their reversed digits,
 * one of radix 2 if their number is no power of 4, the others of radix 4; factors that are 1 are left out, as products with them
 * change nothing. Sums that wrap around are of a type for which C defines that, and are cut when they are stored.
 */
final class FourierKernels {
    /** Half or a quarter of 2^15 - 1 or 2^31 - 1, rounded down. */
    private record Fractions(int half, int quarter) {}

    private static final Intrinsic NEXT =
            new Intrinsic("kiln_fft_next", List.of(INT32, INT32), INT32, "", """
                /* The place behind one of n, counted in digits that are reversed: those of 4 first, then of 2. */
                static inline int32_t kiln_fft_next(int32_t place, int32_t n) {
                  int32_t step = n % 4 == 0 ? n / 4 : n / 2;
                  while (step > 0 && place + step >= n) {
                    place -= n - step;
                    n = step;
                    step = n % 4 == 0 ? n / 4 : n / 2;
                  }
                  return place + step;
                }
                """, List.of());

    private static final Intrinsic PRODUCTS_16 =
            new Intrinsic("kiln_products_16", List.of(INT32, INT32, INT32, INT32), INT32, "", """
                /* a * b + c * d of fractions of 15 bits, rounded once. */
                static inline int32_t kiln_products_16(int32_t a, int32_t b, int32_t c, int32_t d) {
                  return (int16_t)((a * b + c * d + (1 << 14)) >> 15);
                }
                """, List.of());

    private static final Intrinsic PRODUCTS_32 =
            new Intrinsic("kiln_products_32", List.of(INT32, INT32, INT32, INT32), INT32, "", """
                /* a * b + c * d of fractions of 31 bits, rounded once. */
                static inline int32_t kiln_products_32(int32_t a, int32_t b, int32_t c, int32_t d) {
                  return (int32_t)(((int64_t)a * b + (int64_t)c * d + (1 << 30)) >> 31);
                }
                """, List.of());

    private static final Intrinsic PRODUCTS_FLOAT = new Intrinsic(
            "kiln_products_float", List.of(FLOAT32, FLOAT32, FLOAT32, FLOAT32), FLOAT32, "", """
                /* a * b + c * d */
                static inline float kiln_products_float(float a, float b, float c, float d) {
                  return a * b + c * d;
                }
                """, List.of());

    /** Steps over pairs of real and imaginary part. */
    private static final String PASSES = """
        /* Transforms n complex numbers in place; they come in the order of their reversed digits. */
        static void NAME_passes(T* x, const T* roots, int32_t n) {
          int32_t m = 1;
          if ((n & 0x55555555) == 0) {
            for (int32_t i = 0; i < 2 * n; i += 4) {
              const S re = HALF(x[i]);
              const S im = HALF(x[i + 1]);
              const S b_re = HALF(x[i + 2]);
              const S b_im = HALF(x[i + 3]);
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
                const S a_re = QUARTER(a[0]);
                const S a_im = QUARTER(a[1]);
                const S even_re = a_re + (S)c_re;
                const S even_im = a_im + (S)c_im;
                const S rest_re = a_re - (S)c_re;
                const S rest_im = a_im - (S)c_im;
                const S odd_re = (S)b_re + (S)d_re;
                const S odd_im = (S)b_im + (S)d_im;
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

        """;

    private static final String REAL = """
        /* The spectrum of real numbers, filled up with 0 to 2 * n: n + 1 pairs of real and imaginary part. */
        static void NAME(T* restrict x, const T* restrict data, const T* roots, const T* split_roots, int32_t length, int32_t n) {
          int32_t place = 0;
          for (int32_t i = 0; i < 2 * n; i += 2) {
            x[2 * place] = (T)(i < length ? data[i] : 0);
            x[2 * place + 1] = (T)(i + 1 < length ? data[i + 1] : 0);
            place = kiln_fft_next(place, n);
          }
          NAME_passes(x, roots, n);
          const S first_re = HALF(x[0]);
          const S first_im = HALF(x[1]);
          x[0] = (T)(first_re + first_im);
          x[1] = 0;
          x[2 * n] = (T)(first_re - first_im);
          x[2 * n + 1] = 0;
          for (int32_t k = 1; k <= n / 2; ++k) {
            T* a = x + 2 * k;
            T* b = x + 2 * (n - k);
            const T minus_b = (T)(0 - (S)b[1]);
            const E a_re = HALF(a[0]);
            const E a_im = HALF(a[1]);
            const E b_re = HALF(b[0]);
            const E b_im = HALF(minus_b);
            const T* root = split_roots + 2 * (k - 1);
            const S odd_re = (S)PRODUCTS(a_re - b_re, root[0], a_im - b_im, -root[1]);
            const S odd_im = (S)PRODUCTS(a_re - b_re, root[1], a_im - b_im, root[0]);
            const S even_re = (S)(a_re + b_re);
            const S even_im = (S)(a_im + b_im);
            a[0] = (T)HALVED(even_re + odd_re);
            a[1] = (T)HALVED(even_im + odd_im);
            b[0] = (T)HALVED(even_re - odd_re);
            b[1] = (T)HALVED(odd_im - even_im);
          }
        }
        """;

    private static final String INVERSE = """
        /* Number k of n complex ones of which even and odd real numbers are the parts, from their spectrum. */
        static void NAME_join(T* x, const T* data, const T* split_roots, int32_t k, int32_t n) {
          const int32_t low = 2 * k < n ? k : n - k;
          const T* a = data + 2 * low;
          const T* b = data + 2 * (n - low);
          const T minus_b = (T)(0 - (S)b[1]);
          const E a_re = HALF(a[0]);
          const E a_im = HALF(a[1]);
          const E b_re = HALF(b[0]);
          const E b_im = HALF(minus_b);
          const T* root = split_roots + 2 * (low - 1);
          const S odd_re = (S)PRODUCTS(a_re - b_re, root[0], a_im - b_im, -root[1]);
          const S odd_im = (S)PRODUCTS(a_re - b_re, root[1], a_im - b_im, root[0]);
          const S even_re = (S)(a_re + b_re);
          const S even_im = (S)(a_im + b_im);
          x[0] = (T)(2 * k < n ? even_re + odd_re : even_re - odd_re);
          x[1] = (T)(2 * k < n ? even_im + odd_im : odd_im - even_im);
        }

        /* The 2 * n real numbers of a spectrum. */
        static void NAME(T* restrict x, const T* restrict data, const T* roots, const T* split_roots, int32_t n) {
          const T first_re = (T)((S)data[0] + (S)data[2 * n]);
          const T first_im = (T)((S)data[0] - (S)data[2 * n]);
          x[0] = (T)HALF(first_re);
          x[1] = (T)HALF(first_im);
          int32_t place = kiln_fft_next(0, n);
          for (int32_t k = 1; k < n; ++k) {
            NAME_join(x + 2 * place, data, split_roots, k, n);
            place = kiln_fft_next(place, n);
          }
          NAME_passes(x, roots, n);
        FINISH}
        """;

    private FourierKernels() {}

    /** The kernel for a type: result, data, factors of the passes, factors that take even and odd apart; samples given, n. */
    static Kernel of(DType dtype, boolean inverse) {
        Intrinsic products = dtype.isFloat() ? PRODUCTS_FLOAT : dtype == INT16 ? PRODUCTS_16 : PRODUCTS_32;
        String name = (inverse ? "kiln_irfft_" : "kiln_rfft_") + products.name().substring("kiln_products_".length());
        Pointer in = Pointer.in(dtype);
        List<DType> scalars = new ArrayList<>(List.of(INT32));
        if (!inverse) {
            scalars.add(INT32);
        }
        return new Kernel(
                name,
                List.of(Pointer.out(dtype), in, in, in),
                scalars,
                List.of(),
                text(PASSES + (inverse ? INVERSE : REAL), dtype, name, products.name(), inverse),
                List.of(NEXT, products));
    }

    private static String text(String template, DType dtype, String name, String products, boolean inverse) {
        boolean isFloat = dtype.isFloat();
        Fractions fractions = dtype == INT16 ? new Fractions(16383, 8191) : new Fractions(1073741823, 536870911);
        String fixed = "%s(%s, %d, 0, 0)";
        String sum = dtype == INT32 ? "uint32_t" : isFloat ? "float" : "int32_t";
        return template.replace("TURN_RE", inverse ? "(S)d_im - (S)b_im" : "(S)b_im - (S)d_im")
                .replace("TURN_IM", inverse ? "(S)b_re - (S)d_re" : "(S)d_re - (S)b_re")
                .replace(
                        "FINISH",
                        isFloat ? "  for (int32_t i = 0; i < 2 * n; ++i) {\n    x[i] /= (T)(2 * n);\n  }\n" : "")
                .replaceAll("const S ([a-z_]+) = (HALF|QUARTER)", "const S $1 = (S)$2")
                .replaceAll("HALVED\\(([^()]*)\\)", isFloat ? "(($1) * 0.5f)" : "((int32_t)($1) >> 1)")
                .replaceAll("HALF\\(([^()]*)\\)", isFloat ? "$1" : fixed.formatted(products, "$1", fractions.half))
                .replaceAll(
                        "QUARTER\\(([^()]*)\\)", isFloat ? "$1" : fixed.formatted(products, "$1", fractions.quarter))
                .replace("(S)", dtype == INT32 ? "(S)" : "")
                .replace("PRODUCTS", products)
                .replace("NAME", name)
                .replaceAll("\\bT\\b", dtype.cName())
                .replaceAll("\\bS\\b", sum)
                .replaceAll("\\bE\\b", isFloat ? "float" : "int32_t");
    }
}
