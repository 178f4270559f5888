// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.FixedPoint;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Kernels for Arm's DSP instructions. */
final class DspTwins implements KernelTwins.Twin {
    private static final Pattern CONV = Pattern.compile("kiln_conv_2x4(?:_\\d+)*((?:_bytes)?_scale.*)");
    private static final Pattern DENSE = Pattern.compile("kiln_dense_(\\d+)(?:_\\d+)*(?:_tail)?((?:_bytes)?_scale.*)");
    private static final Pattern EPILOGUE =
            Pattern.compile("(_bytes)?_scale(\\d+)_shift(\\d+)(_signed)?(?:_limit_(\\d+)_(\\d+))?");

    @Override
    public boolean knows(String kernel) {
        return CONV.matcher(kernel).matches()
                || DENSE.matcher(kernel).matches()
                || kernel.matches("kiln_(widen_(pair|rest|edge|\\d+x\\d+_\\d+)|copy_row|fill_row)");
    }

    @Override
    public void run(String kernel, List<KernelTwins.Memory> pointers, List<Long> scalars) {
        int[] s = scalars.stream().mapToInt(Long::intValue).toArray();
        switch (kernel) {
            case "kiln_widen_pair", "kiln_widen_rest" -> widenPair(pointers, s[0]);
            case "kiln_widen_edge" -> edge(pointers, s);
            case "kiln_copy_row" -> fill(pointers, s[0], i -> pointers.get(1).get(i));
            case "kiln_fill_row" -> fill(pointers, s[0], i -> s[1]);
            default -> {
                if (kernel.startsWith("kiln_widen_")) {
                    widen(kernel, pointers);
                } else if (CONV.matcher(kernel).matches()) {
                    conv(kernel, pointers, s);
                } else {
                    dense(kernel, pointers, s);
                }
            }
        }
    }

    /** Where input {@code i} of a pixel lies in bytes: fours in the order 0 2, 1 3, the pixels' pairs in turn. */
    private static int place(int i, int pixel) {
        int[] inFour = {0, 8, 2, 10};
        return i / 4 * 16 + inFour[i % 4] + 4 * pixel;
    }

    private static void put16(KernelTwins.Memory to, int place, long value) {
        to.put(place, (byte) value);
        to.put(place + 1, value < 0 ? -1 : 0);
    }

    private static void widenPair(List<KernelTwins.Memory> p, int count) {
        for (int i = 0; i < (count + 3) / 4 * 4; i++) {
            for (int pixel = 0; pixel < 2; pixel++) {
                put16(p.get(0), place(i, pixel), i < count ? p.get(1 + pixel).get(i) : 0);
            }
        }
    }

    private static void edge(List<KernelTwins.Memory> p, int[] s) {
        for (int i = 0; i < 4 * (s[0] + s[1] + s[2]); i++) {
            boolean isInside = i >= 4 * s[0] && i < 4 * (s[0] + s[1]);
            put16(p.get(0), place(i, 0), isInside ? p.get(1).get(i - 4 * s[0]) : s[3]);
        }
    }

    private static void fill(List<KernelTwins.Memory> p, int count, IntToLongFunction value) {
        for (int i = 0; i < count; i++) {
            p.get(0).put(i, value.applyAsLong(i));
        }
    }

    /** Rows of a window one after another: whole fours first, a rest of three with its neighbour, then all other rests. */
    private static void widen(String kernel, List<KernelTwins.Memory> p) {
        String[] sizes = kernel.substring("kiln_widen_".length()).split("[x_]", -1);
        int rows = Integer.parseInt(sizes[0]);
        int run = Integer.parseInt(sizes[1]);
        int pitch = Integer.parseInt(sizes[2]);
        List<Integer> offsets = new ArrayList<>();
        int whole = run % 4 == 3 ? run + 1 : run - run % 4;
        for (int i = 0; i < rows * whole; i++) {
            offsets.add(i / whole * pitch + i % whole);
        }
        for (int i = 0; i < rows * (run - whole); i++) {
            offsets.add(i / (run - whole) * pitch + whole + i % (run - whole));
        }
        for (int i = 0; i < offsets.size(); i++) {
            put16(p.get(0), place(i, 0), p.get(1).get(offsets.get(i)));
            put16(p.get(0), place(i, 1), p.get(2).get(offsets.get(i)));
        }
    }

    private static void conv(String kernel, List<KernelTwins.Memory> p, int[] s) {
        Matcher name = CONV.matcher(kernel);
        name.matches();
        Epilogue epilogue = Epilogue.of(name.group(1), s);
        int inputs = 2 * s[0];
        int w = 0;
        for (int block = 0; block < s[1]; block++) {
            long[][] sums = new long[2][4];
            for (int i = 0; i < inputs; i++) {
                for (int pair = 0; pair < 2; pair++) {
                    long word = p.get(1).get(w + i / 4 * 4 + i % 2 * 2 + pair);
                    int both = (short) (i % 4 < 2 ? word : word >> 16);
                    int second = (byte) both;
                    for (int pixel = 0; pixel < 2; pixel++) {
                        int place = place(i, pixel);
                        long x = p.get(0).get(place + 1) * 256 + (p.get(0).get(place) & 0xFF);
                        sums[pixel][2 * pair] += x * epilogue.first(both, second);
                        sums[pixel][2 * pair + 1] += x * second;
                    }
                }
            }
            w += inputs;
            for (int channel = 0; channel < 4; channel++, w += epilogue.constants()) {
                for (int pixel = 0; pixel < 2; pixel++) {
                    p.get(2 + pixel).put(4 * block + channel, epilogue.apply(sums[pixel][channel], p.get(1), w));
                }
            }
        }
    }

    private static void dense(String kernel, List<KernelTwins.Memory> p, int[] s) {
        Matcher name = DENSE.matcher(kernel);
        name.matches();
        int channels = Integer.parseInt(name.group(1));
        int pairs = (channels + 1) / 2;
        Epilogue epilogue = Epilogue.of(name.group(2), s);
        int w = 0;
        for (int block = 0; block < s[1]; block++) {
            long[] sums = new long[2 * pairs];
            for (int i = 0; i < s[0]; i++) {
                for (int pair = 0; pair < pairs; pair++) {
                    long word = p.get(1).get(w + (i / 4 * pairs + pair) * 2 + i % 2);
                    int both = (short) (i % 4 < 2 ? word : word >> 16);
                    int second = (byte) both;
                    sums[2 * pair] += p.get(0).get(i) * epilogue.first(both, second);
                    sums[2 * pair + 1] += p.get(0).get(i) * second;
                }
            }
            w += (s[0] + 3) / 4 * 2 * pairs;
            for (int channel = 0; channel < channels; channel++, w += epilogue.constants()) {
                p.get(2).put(channels * block + channel, epilogue.apply(sums[channel], p.get(1), w));
            }
        }
    }

    /** What a kernel's name says of its rescaling. */
    private record Epilogue(boolean isBytes, int scale, int shift, boolean isSigned, int low, int high, long late) {
        static Epilogue of(String text, int[] s) {
            Matcher m = EPILOGUE.matcher(text);
            if (!m.matches()) {
                throw new IllegalArgumentException("epilogue " + text);
            }
            boolean isLimited = m.group(5) != null;
            return new Epilogue(
                    m.group(1) != null,
                    Integer.parseInt(m.group(2)),
                    Integer.parseInt(m.group(3)),
                    m.group(4) != null,
                    isLimited ? Integer.parseInt(m.group(5)) - 128 : -128,
                    isLimited ? Integer.parseInt(m.group(6)) - 128 : 127,
                    m.group(4) == null ? 0 : s[2]);
        }

        int first(int both, int second) {
            return isBytes ? (byte) (both >> 8) : (both - second) >> 8;
        }

        int constants() {
            return isSigned ? 3 : 2;
        }

        long apply(long sum, KernelTwins.Memory w, int at) {
            long high = Math.addExact(
                    Math.toIntExact(w.get(at + 1)), Math.toIntExact((Math.toIntExact(sum << scale) * w.get(at)) >> 32));
            if (isSigned) {
                high = Math.toIntExact(high - (high < 0 ? w.get(at + 2) : 0) + late);
            }
            return FixedPoint.clamp(high >> shift, low, high());
        }
    }
}
