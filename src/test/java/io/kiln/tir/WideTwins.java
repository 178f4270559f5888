// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.tir.KernelTwins.Memory;
import java.util.List;

/** The micro-kernels for dot products of int16 and float data, in Java. */
final class WideTwins implements KernelTwins.Twin {
    private static final String DSP = "kiln_dot16_";
    private static final String MVE = "kiln_mve_dot16_";
    private static final String FLOAT = "kiln_mve_dotf_";

    @Override
    public boolean knows(String kernel) {
        return kernel.startsWith(DSP) || kernel.startsWith(MVE) || kernel.startsWith(FLOAT);
    }

    @Override
    public void run(String kernel, List<Memory> pointers, List<Long> scalars) {
        String[] parts = kernel.substring("kiln_".length()).split("[_x]", -1);
        if (kernel.startsWith(FLOAT)) {
            floats(Integer.parseInt(parts[2]), Integer.parseInt(parts[3]), pointers, scalars.get(0));
        } else if (kernel.startsWith(MVE)) {
            Memory weights = pointers.get(pointers.size() - 2);
            integers(
                    kernel,
                    Integer.parseInt(parts[2]),
                    4,
                    pointers,
                    (tap, o) -> weights.get(tap / 8 * 32 + o * 8 + tap % 8));
        } else {
            Memory weights = pointers.get(pointers.size() - 2);
            int taps = 2 * scalars.get(0).intValue() + (kernel.endsWith("_odd") ? 1 : 0);
            integers(kernel, taps, 3, pointers, (tap, o) ->
                    (short) (weights.get(tap / 2 * 3 + o) >> (tap % 2 == 0 ? 0 : 16)));
        }
    }

    /** A weight, found by its tap and channel. */
    private interface Weights {
        long get(int tap, int channel);
    }

    private static void integers(String kernel, int taps, int channels, List<Memory> pointers, Weights weights) {
        Memory sums = pointers.get(pointers.size() - 1);
        for (int tap = 0; tap < taps; tap++) {
            for (int o = 0; o < channels; o++) {
                for (int p = 0; p < pointers.size() - 2; p++) {
                    long sum = sums.get(p * channels + o) + pointers.get(p).get(tap) * weights.get(tap, o);
                    if (sum != (int) sum) {
                        throw new ArithmeticException(kernel + " leaves 32 bits: " + sum);
                    }
                    sums.put(p * channels + o, sum);
                }
            }
        }
    }

    private static void floats(int pixels, int channels, List<Memory> pointers, long taps) {
        Memory sums = pointers.get(pixels + 1);
        for (int tap = 0; tap < taps; tap++) {
            for (int i = 0; i < pixels * channels; i++) {
                float x = real(pointers.get(i / channels).get(tap));
                float w = real(pointers.get(pixels).get(tap * channels + i % channels));
                sums.put(i, Float.floatToIntBits(Math.fma(x, w, real(sums.get(i)))));
            }
        }
    }

    private static float real(long bits) {
        return Float.intBitsToFloat((int) bits);
    }
}
