// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT32;

import io.kiln.kernels.convolution.Jtesoft_productsGenerated;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.Collections;
import java.util.List;

/**
 * Sums of a few products of floats in integers, each with the exponent of its largest product: depthwise convolutions, and layers with too few products for
 * {@link SoftKernel}.
 *
 * <p>A product is that of two integers, of 31 bits with their signs, without the 32 lowest bits: {@code p = m w >> 32}, where the input is
 * {@code m 2^(field - 157)}, and the weight {@code w 2^(scale - shift - 31)}, see {@link SoftProductWeights}. The product's value is then
 * {@code p 2^(place + scale - 156)} with {@code place = field - shift}. A sum consists of products shifted right by
 * {@code largest place - place + spare}, and of a bias likewise, so that it fits 32 bits. The largest product is at least {@code 2^(28 - spare)} and errs by
 * half a one there, or one on RISC-V, as each of the others does. With n products, {@code n 2^(spare - 28)} is less than the {@code (n - 1/4) 2^-24} which
 * the bound for a sum of floats leaves beside one final rounding and a weight's {@code 2^-26}, see {@link SoftPrecision}.
 *
 * <p>An exponent near its ends (an input may be infinite, NaN or below the normal numbers, or a result may be) makes the kernel compute the channel as
 * {@link SoftKernel} does where its sums are too small.
 *
 * @param core for which it is written
 * @param rows of taps
 * @param columns taps of a row
 */
public record SoftProductKernel(SoftCore core, int rows, int columns) {
    /** The largest product's place is at least this, so that zeros are shifted out. */
    public static final int LEAST_TOP = 40;

    /** How far it may lie above, so that no shift exceeds 255. */
    public static final int TOPS = 179;

    /** Largest exponent field of a result, less one. */
    public static final int MOST_FIELD = 253;

    /** Number of taps. */
    public int taps() {
        return rows * columns;
    }

    /** Whether a tap is the last of its row. */
    public boolean endsRow(int tap) {
        return (tap + 1) % columns == 0;
    }

    /** Most taps for which sums are precise enough, and branches reach. */
    static int mostTaps(SoftCore core) {
        return switch (core) {
            case ARMV7_M -> 31;
            case ARMV6_M -> 16;
            case RV32 -> 15;
        };
    }

    /** Bits by which the largest product is shifted right, and one more where products have one bit more. */
    public int shift() {
        int sumBits = Integer.SIZE - Integer.numberOfLeadingZeros(taps());
        return Math.max(1, sumBits - 1) + extra(core);
    }

    /** Bits that products have above 30. */
    static int extra(SoftCore core) {
        return core == SoftCore.ARMV6_M ? 1 : 0;
    }

    /** {@code kernel(in, weights, starts, biases, out, channels, channel step, tap step, row step, low, high)}: all channels of a pixel. */
    Kernel kernel() {
        String name = "kiln_soft_products_" + rows + "x" + columns;
        String text = KernelSheet.text((out, html) -> Jtesoft_productsGenerated.render(out, html, name, this));
        return new Kernel(
                name,
                List.of(
                        Pointer.in(FLOAT32),
                        Pointer.in(INT32),
                        Pointer.in(INT32),
                        Pointer.in(FLOAT32),
                        Pointer.out(FLOAT32)),
                Collections.nCopies(6, INT32),
                List.of(),
                text,
                SoftKernel.USES);
    }
}
