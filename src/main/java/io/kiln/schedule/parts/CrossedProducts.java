// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

/**
 * Products of neighbouring weights, for kernels that add inputs to weights: one instruction of Arm's DSP extension, SXTAB16, unpacks two weights and adds
 * two inputs, and half as many multiplications are left. The identity is
 *
 * <pre>
 * x0 * w0 + x1 * w1 = (x0 + w1) * (x1 + w0) - x0 * x1 - w0 * w1
 * </pre>
 *
 * <p>of S. Winograd, A new algorithm for inner product, IEEE Transactions on Computers C-17 (1968). The products of inputs are the same for all
 * channels: a kernel sums them once in a call. Those of weights are summed at build time. All of it holds modulo 2^32, so a sum that fits is exact.
 */
public final class CrossedProducts {
    private CrossedProducts() {}

    /**
     * The sum of the products of a channel's weights 0 and 1, 2 and 3, and so on, modulo 2^32.
     *
     * @param taps weights in the order of the inputs; one behind the last counts as 0
     */
    public static int of(int[] taps) {
        int sum = 0;
        for (int i = 0; i + 1 < taps.length; i += 2) {
            sum += taps[i] * taps[i + 1];
        }
        return sum;
    }
}
