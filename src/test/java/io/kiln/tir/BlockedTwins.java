// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.FixedPoint;
import io.kiln.tir.KernelTwins.Memory;
import java.util.List;

/** The micro-kernels for cores without SIMD, in Java. */
final class BlockedTwins implements KernelTwins.Twin {
    @Override
    public boolean knows(String kernel) {
        return kernel.startsWith("kiln_blocked_") || kernel.equals("kiln_in_order");
    }

    @Override
    public void run(String kernel, List<Memory> pointers, List<Long> scalars) {
        if (kernel.startsWith("kiln_blocked_")) {
            int[] s = scalars.stream().mapToInt(Long::intValue).toArray();
            boolean pairs = kernel.contains("_pair_");
            blocked(
                    new Shape(pairs, pairs ? 2 : kernel.charAt("kiln_blocked_".length()) - '0', pairs ? 2 : 4),
                    kernel,
                    pointers,
                    s);
        }
    }

    private record Shape(boolean pairs, int pixels, int channels) {}

    private static void blocked(Shape shape, String kernel, List<Memory> pointers, int[] s) {
        boolean isSigned = kernel.contains("_signed");
        boolean isLimited = kernel.contains("_limited");
        int taps = s[0];
        int next = shape.pairs() ? 2 : 3;
        int late = isSigned ? s[next + 3] : 0;
        int low = isLimited ? s[s.length - 2] : -128;
        int high = isLimited ? s[s.length - 1] : 127;
        Memory constants = pointers.get(2);
        for (int channel = 0; channel < s[1]; channel++) {
            int first = channel / shape.channels() * shape.channels() * taps + channel % shape.channels();
            int at = channel * (isSigned ? 3 : 2);
            for (int p = 0; p < shape.pixels(); p++) {
                long sum = 0;
                for (int i = 0; i < taps; i++) {
                    long x = shape.pairs()
                            ? half(pointers.get(0).get(i), p)
                            : pointers.get(0).get(p * s[2] + i);
                    sum += x * pointers.get(1).get(first + i * shape.channels());
                }
                long scaled = Math.toIntExact(sum * s[next + 1]);
                long value = Math.toIntExact(((scaled * constants.get(at)) >> 32) + constants.get(at + 1));
                value = Math.toIntExact(value + late - (isSigned && value < 0 ? constants.get(at + 2) : 0));
                pointers.get(3).put(p * s[next] + channel, FixedPoint.clamp(value >> s[next + 2], low, high));
            }
        }
    }

    /** One of the two values in {@code first + 65536 * second}. */
    private static long half(long word, int place) {
        long first = (short) word;
        return place == 0 ? first : (word - first) >> 16;
    }
}
