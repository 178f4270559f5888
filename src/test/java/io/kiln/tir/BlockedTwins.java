// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.FixedPoint;
import io.kiln.tir.KernelTwins.Memory;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The micro-kernels for cores without SIMD, in Java. */
final class BlockedTwins implements KernelTwins.Twin {
    private static final Pattern BLOCK = Pattern.compile("kiln_depthwise_block_(\\d+)x(\\d+)_pixels(\\d+)_stride(\\d+)"
            + "_dilation(\\d+)_c(\\d+)_row(\\d+)_scale(\\d+)_shift(\\d+)(?:_late(m)?(\\d+))?(?:_limit_(\\d+)_(\\d+))?");

    @Override
    public boolean knows(String kernel) {
        return kernel.startsWith("kiln_blocked_")
                || kernel.startsWith("kiln_depthwise_row")
                || BLOCK.matcher(kernel).matches()
                || kernel.startsWith("kiln_copy_elements")
                || kernel.equals("kiln_fill")
                || kernel.equals("kiln_in_order");
    }

    @Override
    public void run(String kernel, List<Memory> pointers, List<Long> scalars) {
        int[] s = scalars.stream().mapToInt(Long::intValue).toArray();
        Matcher block = BLOCK.matcher(kernel);
        if (block.matches()) {
            depthwiseBlock(block, pointers);
        } else if (kernel.startsWith("kiln_copy_elements")) {
            int count = kernel.equals("kiln_copy_elements")
                    ? s[0]
                    : Integer.parseInt(kernel.substring("kiln_copy_elements_".length()));
            for (int i = 0; i < count; i++) {
                pointers.get(1).put(i, pointers.get(0).get(i));
            }
        } else if (kernel.equals("kiln_fill")) {
            for (int i = 0; i < s[1]; i++) {
                pointers.get(0).put(i, s[0]);
            }
        } else if (kernel.startsWith("kiln_depthwise_row")) {
            depthwise(kernel, pointers, s);
        } else if (kernel.startsWith("kiln_blocked_")) {
            boolean pairs = kernel.contains("_pair_");
            int sizes = "kiln_blocked_".length();
            blocked(
                    pairs
                            ? new Shape(true, 2, 2)
                            : new Shape(false, kernel.charAt(sizes) - '0', kernel.charAt(sizes + 2) - '0'),
                    kernel,
                    pointers,
                    s);
        }
    }

    private record Shape(boolean pairs, int pixels, int channels) {}

    private static void blocked(Shape shape, String kernel, List<Memory> pointers, int[] s) {
        int taps = s[0];
        boolean isPacked = kernel.contains("_packed");
        int next = shape.pairs() ? 2 : 3;
        Epilogue epilogue = Epilogue.of(kernel, pointers.get(2), Arrays.copyOfRange(s, next + 1, s.length));
        for (int channel = 0; channel < s[1]; channel++) {
            int first = channel / shape.channels() * shape.channels() * taps + channel % shape.channels();
            for (int p = 0; p < shape.pixels(); p++) {
                long sum = 0;
                for (int i = 0; i < taps; i++) {
                    long x = shape.pairs()
                            ? half(pointers.get(0).get(i), p)
                            : pointers.get(0).get(p * s[2] + i);
                    int place = first + i * shape.channels();
                    sum += x
                            * (isPacked
                                    ? ofPair(pointers.get(1), place)
                                    : pointers.get(1).get(place));
                }
                pointers.get(3).put(p * s[next] + channel, epilogue.apply(sum, channel));
            }
        }
    }

    /** A weight of the byte {@code first + 16 * second}, first from -8 to 7. */
    private static long ofPair(Memory weights, int place) {
        long both = weights.get(place / 2);
        long first = Math.floorMod(both + 8L, 16L) - 8L;
        return place % 2 == 0 ? first : (both - first) / 16;
    }

    /** A weight of four bits in two's complement. */
    private static long ofHalf(long both, int half) {
        long bits = half == 0 ? both % 16 : both / 16;
        return bits < 8 ? bits : bits - 16;
    }

    private static void depthwise(String kernel, List<Memory> pointers, int[] s) {
        boolean isPacked = kernel.contains("_packed");
        Epilogue epilogue = Epilogue.of(kernel, pointers.get(2), Arrays.copyOfRange(s, 7, s.length));
        for (int p = 0; p < s[0]; p++) {
            for (int c = 0; c < s[1]; c++) {
                long sum = 0;
                for (int k = 0; k < s[3] * s[4]; k++) {
                    long x = pointers.get(0).get(p * s[2] + k / s[4] * s[5] + k % s[4] * s[6] + c);
                    sum += x
                            * (isPacked
                                    ? ofHalf(pointers.get(1).get(k / 2 * s[1] + c), k % 2)
                                    : pointers.get(1).get(k * s[1] + c));
                }
                pointers.get(3).put(p * s[1] + c, epilogue.apply(sum, c));
            }
        }
    }

    private static void depthwiseBlock(Matcher name, List<Memory> pointers) {
        int taps = number(name, 1) * number(name, 2);
        int late = name.group(11) == null ? 0 : (name.group(10) == null ? 1 : -1) * number(name, 11);
        Epilogue epilogue = new Epilogue(
                pointers.get(2),
                name.group(11) == null ? 2 : 3,
                1 << number(name, 8),
                number(name, 9),
                late,
                name.group(12) == null ? -128 : number(name, 12) - 128,
                name.group(13) == null ? 127 : number(name, 13) - 128);
        for (int p = 0; p < number(name, 3); p++) {
            for (int c = 0; c < number(name, 6); c++) {
                long sum = 0;
                for (int k = 0; k < taps; k++) {
                    int column = p * number(name, 4) + k % number(name, 2) * number(name, 5);
                    long x = pointers.get(0).get(k / number(name, 2) * number(name, 7) + column * number(name, 6) + c);
                    sum += x * pointers.get(1).get(c * taps + k);
                }
                pointers.get(3).put(p * number(name, 6) + c, epilogue.apply(sum, c));
            }
        }
    }

    private static int number(Matcher name, int group) {
        return Integer.parseInt(name.group(group));
    }

    /** The rescaling: scale and shift, then the late offset and the limits as the kernel's name says. */
    private record Epilogue(Memory constants, int words, int scale, int shift, int late, int low, int high) {
        static Epilogue of(String kernel, Memory constants, int[] s) {
            boolean isSigned = kernel.contains("_signed");
            boolean isLimited = kernel.contains("_limited");
            return new Epilogue(
                    constants,
                    isSigned ? 3 : 2,
                    s[0],
                    s[1],
                    isSigned ? s[2] : 0,
                    isLimited ? s[s.length - 2] : -128,
                    isLimited ? s[s.length - 1] : 127);
        }

        long apply(long sum, int channel) {
            int at = channel * words;
            long scaled = Math.toIntExact(sum * scale);
            long value = Math.toIntExact(((scaled * constants.get(at)) >> 32) + constants.get(at + 1));
            value = Math.toIntExact(value + late - (words == 3 && value < 0 ? constants.get(at + 2) : 0));
            return FixedPoint.clamp(value >> shift, low, high);
        }
    }

    /** One of the two values in {@code first + 65536 * second}. */
    private static long half(long word, int place) {
        long first = (short) word;
        return place == 0 ? first : (word - first) >> 16;
    }
}
