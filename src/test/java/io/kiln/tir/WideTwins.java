// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.tir.KernelTwins.Memory;
import java.util.List;

/** The micro-kernels of int16 data, in Java. */
final class WideTwins implements KernelTwins.Twin {
    private static final String PREFIX = "kiln_dot16_";
    private static final int CHANNELS = 3;

    @Override
    public boolean knows(String kernel) {
        return kernel.startsWith(PREFIX);
    }

    @Override
    public void run(String kernel, List<Memory> pointers, List<Long> scalars) {
        int pixels = kernel.charAt(PREFIX.length()) - '0';
        Memory weights = pointers.get(pixels);
        Memory sums = pointers.get(pixels + 1);
        for (int tap = 0; tap < 2 * scalars.get(0); tap++) {
            for (int o = 0; o < CHANNELS; o++) {
                long word = weights.get(tap / 2 * CHANNELS + o);
                long weight = (short) (tap % 2 == 0 ? word : word >> 16);
                for (int p = 0; p < pixels; p++) {
                    long sum = sums.get(p * CHANNELS + o) + pointers.get(p).get(tap) * weight;
                    if (sum != (int) sum) {
                        throw new ArithmeticException(kernel + " leaves 32 bits: " + sum);
                    }
                    sums.put(p * CHANNELS + o, sum);
                }
            }
        }
    }
}
