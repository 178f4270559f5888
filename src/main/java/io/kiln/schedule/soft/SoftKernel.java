// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.soft;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.UINT32;

import io.kiln.base.DType;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/**
 * Dot products of floats in integers, without instructions or functions for floats.
 *
 * <p>The inputs of a window become integers with the exponent of the largest, so that the sums of their products with the {@linkplain SoftWeights weights} are
 * sums of integers. Each sum's error is known to be less than a bound, see {@link SoftPrecision}. If neither the sum nor the magnitudes of its first products are large enough for
 * it, the sum is computed again from the inputs: there, each product has 30 bits and loses those that are below the largest product's last. Infinite inputs and NaN go that way, too,
 * and give what IEEE 754 demands.
 *
 * @param core for which it is written
 * @param channels computed together
 * @param unroll taps in its loop, where the core has a choice
 */
record SoftKernel(SoftCore core, int channels, int unroll) {
    /** Words before the integers of a window. */
    static final int HEADER = 3;

    private static final KernelText DOT = KernelText.of("soft/dot");
    private static final KernelText EXACT = KernelText.of("soft/exact");
    private static final KernelText FIX = KernelText.of("soft/fix");
    private static final KernelText DEPTHWISE = KernelText.of("soft/depthwise");
    private static final Intrinsic ZEROS = Intrinsic.inFile("soft/kiln_soft_zeros", List.of(UINT32), INT32);
    private static final Intrinsic RESULT =
            Intrinsic.inFile("soft/kiln_soft_result", List.of(INT64, INT32, FLOAT32, INT32, INT32), FLOAT32, ZEROS);

    /** What kernels of sums call. */
    static final List<Intrinsic> USES = List.of(ZEROS, RESULT);

    /** Pointers to floats or words that a kernel reads. */
    private static Pointer in(DType dtype) {
        return Pointer.in(dtype);
    }

    /** The number of taps to whose multiple runs are padded. */
    int step() {
        return Math.max(core.step(), unroll);
    }

    /** {@code kernel(in, x, taps, padded, bits, factor, shift, least)}: the inputs of a window as integers, behind {@link #HEADER} words. */
    Kernel fix() {
        String name = "kiln_soft_fix";
        String halves = "(int32_t)((uint32_t)(fixed >> 15) << 16 | ((uint32_t)fixed & 0x7fffu))";
        boolean isExact = core == SoftCore.ARMV7_M;
        String text = FIX.with("NAME", name)
                .with("FORMAT", isHalves() ? halves : "fixed")
                .with("CENTRE", core.centre())
                .with("START", isExact ? "" : "  int32_t count = 0;\n")
                .with("COUNT", isExact ? "" : "    count += magnitude != 0u ? 1 : 0;\n")
                .text();
        return new Kernel(
                name,
                List.of(in(FLOAT32), Pointer.out(INT32)),
                Collections.nCopies(6, INT32),
                List.of(),
                text,
                List.of());
    }

    /** {@code kernel(in, x, weights, biases, scales, out, taps, padded, channels, unit, low, high)}: all channels of a pixel. */
    Kernel dot() {
        String name = "kiln_soft_dot" + channels + (unroll > 1 ? "_by" + unroll : "");
        String text = DOT.with("CONDITION", core.condition())
                .with("CHANNELS", channels)
                .with("SHIFT", core.dropped())
                .with("UNIT_BITS", core.unit() + core.dropped() - Integer.SIZE)
                .with("NAME", name)
                .with("SUMS", name + "_sums")
                .with("PRECISE", name + "_precise")
                .with("CORE", description())
                .with("ASSEMBLY", assembly())
                .with("EXACT", exact(core, name))
                .with("PLACE", core == SoftCore.ARMV6_M ? 157 : 156)
                .with("PRODUCTS", products())
                .text();
        return new Kernel(
                name,
                List.of(in(FLOAT32), in(INT32), in(INT32), in(FLOAT32), in(INT16), Pointer.out(FLOAT32)),
                Collections.nCopies(6, INT32),
                List.of(),
                text,
                List.of(ZEROS, RESULT, ends()));
    }

    /** The function that makes floats of sums. */
    private Intrinsic ends() {
        String file = switch (core) {
            case ARMV7_M -> "soft/ends_thumb2";
            case ARMV6_M -> "soft/ends_thumb1";
            case RV32 -> "soft/ends_riscv";
        };
        String twin = KernelText.of("soft/ends")
                .with("INPUT", isHalves() ? "(x[i] >> 16) * 32768 + (x[i] & 0x7fff)" : "x[i]")
                .text();
        String text = KernelText.of(file).with("TWIN", twin).text();
        return new Intrinsic("kiln_soft_ends", List.of(), INT32, "", text, List.of(ZEROS));
    }

    /** {@code kernel(in, weights, biases, scales, out, taps, channels, low, high)}: all channels of a pixel of a depthwise convolution. */
    static Kernel depthwise(SoftCore core) {
        String name = "kiln_soft_depthwise";
        String text = DEPTHWISE
                .with("NAME", name)
                .with("PRECISE", name + "_precise")
                .with("EXACT", exact(core, name))
                .with("PLACE", core == SoftCore.ARMV6_M ? 157 : 156)
                .text();
        return new Kernel(
                name,
                List.of(in(FLOAT32), in(INT32), in(FLOAT32), in(INT16), Pointer.out(FLOAT32)),
                Collections.nCopies(4, INT32),
                List.of(),
                text,
                USES);
    }

    /** Whether an input is two halves in a word. */
    private boolean isHalves() {
        return core == SoftCore.ARMV6_M;
    }

    /** The function that sums products with exponents of their own, as C: {@code <name>_precise}. */
    static String exact(SoftCore core, String name) {
        String halves =
                "(weight >> 16) * (int32_t)(significand >> 8) + ((weight >> 16) * (int32_t)(significand & 255u) >> 8)"
                        + " + (int32_t)((uint32_t)(weight & 0xffff) * (significand >> 8) >> 16)";
        String word = "(int32_t)((int64_t)weight * (int32_t)(significand << 7) >> 32)";
        return EXACT.with("NAME", name + "_precise")
                .with("UNPACK", name + "_unpack")
                .with("SPECIAL", name + "_special")
                .with("PRODUCT", core == SoftCore.ARMV6_M ? halves : word)
                .text();
    }

    private String assembly() {
        return switch (core) {
            case ARMV7_M -> new SoftThumb2(channels, unroll).lines();
            case ARMV6_M -> new SoftThumb1(channels).lines();
            case RV32 -> new SoftRiscV(channels, Math.max(SoftRiscV.TAPS, unroll)).lines();
        };
    }

    private String description() {
        return switch (core) {
            case ARMV7_M -> "Sums are exact";
            case ARMV6_M -> "Sums lack the products of lower halves";
            case RV32 -> "Sums are those of the products' upper words";
        };
    }

    private String products() {
        String sum = core == SoftCore.ARMV7_M ? "(int64_t)x[i] * (weight >> (weight & 31))" : "";
        String upper = "(int32_t)((int64_t)x[i] * (weight >> (weight & 31)) >> 32)";
        return core == SoftCore.ARMV6_M
                ? String.format(Locale.ROOT, """
                        for (int32_t first = 0; first < taps; first += %d) {
                          int32_t upper = 0;
                          int32_t lower = 0;
                          for (int32_t i = first; i < first + %1$d; ++i) {
                            const int32_t word = w[i * CHANNELS + c];
                            const int32_t weight = word >> (word & 31);
                            const int32_t x1 = x[i] >> 16;
                            const int32_t x0 = x[i] & 0x7fff;
                            upper += x1 * (weight >> 15);
                            lower += (x0 * (weight >> 15) + x1 * (weight & 0x7fff)) >> 4;
                          }
                          sums[c] += upper + (lower >> 11);
                        }
                    """, SoftThumb1.TAPS).replace("CHANNELS", Integer.toString(channels))
                : String.format(Locale.ROOT, """
                        for (int32_t i = 0; i < taps; ++i) {
                          const int32_t weight = w[i * %d + c];
                          sums[c] += %s;
                        }
                    """, channels, sum.isEmpty() ? upper : sum);
    }
}
