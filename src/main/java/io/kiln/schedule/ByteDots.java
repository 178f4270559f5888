// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.base.Optimize;
import io.kiln.lower.RowDots;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.List;
import java.util.Optional;

/** Micro-kernels for {@link RowDots}: dot products of bytes by {@code SMLAD}, or by {@code VMLADAV} on MVE. */
final class ByteDots {
    private static final Intrinsic EXTEND = new Intrinsic("kiln_sxtb16", List.of(INT32), INT32, "", """
        /* Bytes 0 and 2 as two integers of 16 bits. */
        static inline int32_t kiln_sxtb16(int32_t bytes) {
        #if defined(__ARM_FEATURE_DSP)
          int32_t result;
          __asm__("sxtb16 %0, %1" : "=r"(result) : "r"(bytes));
          return result;
        #else
          return (int32_t)(((uint32_t)(int8_t)bytes & 0xffffu) | (uint32_t)(int8_t)(bytes >> 16) << 16);
        #endif
        }
        """, List.of());

    private static final Intrinsic EXTEND_ODD =
            new Intrinsic("kiln_sxtb16_odd", List.of(INT32), INT32, "", """
                /* Bytes 1 and 3 as two integers of 16 bits. */
                static inline int32_t kiln_sxtb16_odd(int32_t bytes) {
                #if defined(__ARM_FEATURE_DSP)
                  int32_t result;
                  __asm__("sxtb16 %0, %1, ror #8" : "=r"(result) : "r"(bytes));
                  return result;
                #else
                  return kiln_sxtb16((int32_t)((uint32_t)bytes >> 8));
                #endif
                }
                """, List.of(EXTEND));

    private static final RowDots DSP =
            new RowDots(kernel("kiln_dot8", """
                  /* Adds dot products of bytes with four rows of weights, four of each in turn, to the sums. */
                  static __attribute__((noinline)) void kiln_dot8(const int8_t* x, const int8_t* w, int32_t* sums, int32_t count) {
                    int32_t s0 = sums[0];
                    int32_t s1 = sums[1];
                    int32_t s2 = sums[2];
                    int32_t s3 = sums[3];
                    for (const int8_t* const end = x + count / 4 * 4; x < end; x += 4) {
                  int32_t v;
                  int32_t row;
                  __builtin_memcpy(&v, x, 4);
                  const int32_t even = kiln_sxtb16(v);
                  const int32_t odd = kiln_sxtb16_odd(v);
                  __builtin_memcpy(&row, w, 4);
                  s0 = kiln_smlad(odd, kiln_sxtb16_odd(row), kiln_smlad(even, kiln_sxtb16(row), s0));
                  __builtin_memcpy(&row, w + 4, 4);
                  s1 = kiln_smlad(odd, kiln_sxtb16_odd(row), kiln_smlad(even, kiln_sxtb16(row), s1));
                  __builtin_memcpy(&row, w + 8, 4);
                  s2 = kiln_smlad(odd, kiln_sxtb16_odd(row), kiln_smlad(even, kiln_sxtb16(row), s2));
                  __builtin_memcpy(&row, w + 12, 4);
                  s3 = kiln_smlad(odd, kiln_sxtb16_odd(row), kiln_smlad(even, kiln_sxtb16(row), s3));
                  w += 16;
                }
                for (int32_t left = count % 4; left > 0; --left) {
                      s0 += *x * w[0];
                      s1 += *x * w[4];
                      s2 += *x * w[8];
                      s3 += *x * w[12];
                      ++x;
                      ++w;
                    }
                    sums[0] = s0;
                    sums[1] = s1;
                    sums[2] = s2;
                    sums[3] = s3;
                  }
                """, List.of(EXTEND, EXTEND_ODD, DspWideKernel.SMLAD)), 4);

    private static final RowDots MVE =
            new RowDots(kernel("kiln_mve_dot8", """
                /* Adds dot products of bytes with four rows of weights, 16 of each in turn, to the sums. */
                static __attribute__((noinline)) void kiln_mve_dot8(const int8_t* x, const int8_t* w, int32_t* sums, int32_t count) {
                #if %s
                  __asm__ volatile(
                %s      : [x] "+r"(x), [w] "+r"(w)
                      : [sums] "r"(sums), [count] "r"(count)
                      : "r0", "r2", "r4", "r6", "lr", "q0", "q1", "cc", "memory");
                #else
                  for (int32_t i = 0; i < count; ++i) {
                    for (int32_t row = 0; row < 4; ++row) {
                      sums[row] += x[i] * w[i / 16 * 64 + row * 16 + i %% 16];
                    }
                  }
                #endif
                }
                """.formatted(MveText.CONDITION, MveText.lines("""
                    ldrd r0, r2, [%[sums]]
                    ldrd r4, r6, [%[sums], #8]
                    dlstp.8 lr, %[count]
                    1:
                    vldrb.8 q0, [%[x]], #16
                    vldrb.8 q1, [%[w]], #16
                    vmladava.s8 r0, q1, q0
                    vldrb.8 q1, [%[w]], #16
                    vmladava.s8 r2, q1, q0
                    vldrb.8 q1, [%[w]], #16
                    vmladava.s8 r4, q1, q0
                    vldrb.8 q1, [%[w]], #16
                    vmladava.s8 r6, q1, q0
                    letp lr, 1b
                    strd r0, r2, [%[sums]]
                    strd r4, r6, [%[sums], #8]
                    """)), List.of()), 16);

    private ByteDots() {}

    private static Kernel kernel(String name, String definition, List<Intrinsic> uses) {
        List<Pointer> pointers = List.of(Pointer.in(INT8), Pointer.in(INT8), Pointer.out(INT32));
        return new Kernel(name, pointers, List.of(INT32), List.of(), definition, uses);
    }

    /** The kernel of a core that has one. */
    static Optional<RowDots> of(CpuFeatures features, Optimize optimize) {
        if (optimize == Optimize.SIZE || !features.hasDsp()) {
            return Optional.empty();
        }
        return Optional.of(features.hasMve() ? MVE : DSP);
    }
}
