// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Kernels for Arm's DSP instructions. */
final class DspTwins implements KernelTwins.Twin {
    private static final Pattern CONV = Pattern.compile("kiln_conv_2x4(?:_\\d+)*((?:_bytes)?_scale.*)");
    private static final Pattern COLUMN =
            Pattern.compile("kiln_column_(\\d+)_row(\\d+)_out(\\d+)_rows(\\d)((?:_bytes)?_scale.*)");
    private static final Pattern DENSE = Pattern.compile("kiln_dense_(\\d+)(?:_\\d+)*(?:_tail)?((?:_bytes)?_scale.*)");

    @Override
    public boolean knows(String kernel) {
        return CONV.matcher(kernel).matches()
                || DENSE.matcher(kernel).matches()
                || COLUMN.matcher(kernel).matches()
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
                } else if (COLUMN.matcher(kernel).matches()) {
                    column(kernel, pointers, s);
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
        DspEpilogueTwin epilogue = DspEpilogueTwin.of(name.group(1), s);
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

    /** Sums over rows that lie some bytes apart, four channels at a time. */
    private static void column(String kernel, List<KernelTwins.Memory> p, int[] s) {
        Matcher name = COLUMN.matcher(kernel);
        name.matches();
        int[] sizes = IntStream.rangeClosed(1, 4)
                .map(i -> Integer.parseInt(name.group(i)))
                .toArray();
        DspEpilogueTwin epilogue = DspEpilogueTwin.of(name.group(5), s);
        int blockWords = 2 * sizes[0] + 4 * epilogue.constants();
        for (int c = 0; c < 4 * s[0]; c++) {
            int first = c / 4 * blockWords;
            for (int row = 0; row < sizes[3]; row++) {
                long sum = 0;
                for (int tap = 0; tap < sizes[0]; tap++) {
                    long word = p.get(1).get(first + 2 * tap + c % 2);
                    sum += p.get(0).get((row + tap) * sizes[1] + c)
                            * epilogue.weight((short) (c % 4 < 2 ? word : word >> 16));
                }
                int constants = first + 2 * sizes[0] + c % 4 * epilogue.constants();
                p.get(2).put(row * sizes[2] + c, epilogue.apply(sum, p.get(1), constants));
            }
        }
    }

    private static void dense(String kernel, List<KernelTwins.Memory> p, int[] s) {
        Matcher name = DENSE.matcher(kernel);
        name.matches();
        int channels = Integer.parseInt(name.group(1));
        int pairs = (channels + 1) / 2;
        DspEpilogueTwin epilogue = DspEpilogueTwin.of(name.group(2), s);
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
}
