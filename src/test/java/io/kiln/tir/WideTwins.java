// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.tir.KernelTwins.Memory;
import java.util.List;

/** The micro-kernels for dot products of int16 and float data, in Java. */
final class WideTwins implements KernelTwins.Twin {
    private static final String DSP = "kiln_dot16_";
    private static final String MVE = "kiln_mve_dot16_";
    private static final String DSP_BYTES = "kiln_dot8";
    private static final String MVE_BYTES = "kiln_mve_dot8";
    private static final String DEPTHWISE = "kiln_mve_depthf_";
    private static final String FLOAT = "kiln_mve_dotf_";

    @Override
    public boolean knows(String kernel) {
        return kernel.startsWith(DSP)
                || kernel.startsWith(MVE)
                || kernel.startsWith(FLOAT)
                || kernel.startsWith(DEPTHWISE)
                || kernel.equals(DSP_BYTES)
                || kernel.equals(MVE_BYTES);
    }

    @Override
    public void run(String kernel, List<Memory> pointers, List<Long> scalars) {
        String[] parts = kernel.substring("kiln_".length()).split("[_x]", -1);
        if (kernel.equals(DSP_BYTES) || kernel.equals(MVE_BYTES)) {
            int step = kernel.equals(DSP_BYTES) ? 4 : 16;
            Memory weights = pointers.get(1);
            integers(
                    kernel,
                    scalars.get(0).intValue(),
                    4,
                    pointers,
                    (tap, o) -> weights.get(tap / step * 4 * step + o * step + tap % step));
        } else if (kernel.startsWith(DEPTHWISE)) {
            depthwise(kernel, parts, pointers, scalars);
        } else if (kernel.startsWith(FLOAT)) {
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

    private static void depthwise(String kernel, String[] parts, List<Memory> pointers, List<Long> scalars) {
        int channels = scalars.get(0).intValue();
        if (parts[2].equals("start")) {
            for (int i = 0; i < scalars.get(1) * channels; i++) {
                pointers.get(1).put(i, pointers.get(0).get(i % channels));
            }
        } else if (parts[2].equals("limit")) {
            for (int i = 0; i < channels; i++) {
                float value = real(pointers.get(0).get(i));
                float low = real(scalars.get(1));
                float high = real(scalars.get(2));
                float limited = value < low ? low : value > high ? high : value;
                pointers.get(0).put(i, Float.floatToIntBits(limited));
            }
        } else {
            int taps = Integer.parseInt(parts[3]);
            int stride = number(kernel, "_s");
            int dilation = number(kernel, "_d");
            Memory sums = pointers.get(2);
            for (int i = 0; i < Integer.parseInt(parts[2]) * channels; i++) {
                for (int k = 0; k < taps; k++) {
                    int column = i / channels * stride + k * dilation;
                    float x = real(pointers.get(0).get(column * channels + i % channels));
                    float w = real(pointers.get(1).get(k * channels + i % channels));
                    sums.put(i, Float.floatToIntBits(Math.fma(x, w, real(sums.get(i)))));
                }
            }
        }
    }

    /** The number behind a letter at the end of a kernel's name; 1 if it is not there. */
    private static int number(String kernel, String letter) {
        int at = kernel.indexOf(letter, DEPTHWISE.length());
        return at < 0 ? 1 : kernel.charAt(at + letter.length()) - '0';
    }

    private static float real(long bits) {
        return Float.intBitsToFloat((int) bits);
    }
}
