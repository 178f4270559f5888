// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Winograd's F(2, 3) for Arm's DSP instructions. */
final class DspWinogradTwin implements KernelTwins.Twin {
    private static final Pattern INPUT = Pattern.compile("kiln_winograd_input_(\\d+)");
    private static final Pattern MULTIPLY = Pattern.compile("kiln_winograd_(\\d+)_out(\\d+)((?:_bytes)?_scale.*)");

    @Override
    public boolean knows(String kernel) {
        return INPUT.matcher(kernel).matches() || MULTIPLY.matcher(kernel).matches();
    }

    @Override
    public void run(String kernel, List<KernelTwins.Memory> pointers, List<Long> scalars) {
        int[] s = scalars.stream().mapToInt(Long::intValue).toArray();
        Matcher input = INPUT.matcher(kernel);
        if (input.matches()) {
            input(Integer.parseInt(input.group(1)), pointers, s);
            return;
        }
        Matcher name = MULTIPLY.matcher(kernel);
        name.matches();
        multiply(
                Integer.parseInt(name.group(1)),
                Integer.parseInt(name.group(2)),
                DspEpilogueTwin.of(name.group(3), s),
                pointers,
                s[0]);
    }

    /** Where factor {@code kind} of input {@code i} of the rows of a window lies: fours in the order 0 2, 1 3. */
    private static int place(int channels, int kind, int i, int pair) {
        return kind * 12 * channels + i / 4 * 16 + i % 2 * 8 + i % 4 / 2 * 2 + 4 * pair;
    }

    private static void input(int channels, List<KernelTwins.Memory> p, int[] offsets) {
        for (int i = 0; i < channels; i++) {
            long[] d = new long[6];
            for (int column = 0; column < 6; column++) {
                int from = offsets[column == 0 ? 1 : column == 5 ? 2 : 0];
                int at = column == 0 || column == 5 ? i : (column - 1) * channels + i;
                d[column] = from < 0 ? p.get(2).get(at) : p.get(1).get(from + at);
            }
            for (int pair = 0; pair < 2; pair++) {
                int e = 2 * pair;
                long[] factors = {d[e + 1] + d[e + 2], d[e + 2] - d[e + 1], d[e] - d[e + 2], d[e + 1] - d[e + 3]};
                for (int kind = 0; kind < 4; kind++) {
                    p.get(0).put(place(channels, kind, i, pair), (byte) factors[kind]);
                    p.get(0).put(place(channels, kind, i, pair) + 1, factors[kind] >> 8);
                }
            }
        }
    }

    private static void multiply(
            int channels, int pitch, DspEpilogueTwin epilogue, List<KernelTwins.Memory> p, int blocks) {
        int kindWords = 6 * channels;
        int blockWords = 4 * kindWords + 8 * epilogue.constants();
        for (int c = 0; c < 4 * blocks; c++) {
            int block = c / 4 * blockWords;
            for (int pixel = 0; pixel < 4; pixel++) {
                long[] m = new long[4];
                for (int kind = 0; kind < 4; kind++) {
                    int weights = block + kind * kindWords + (kind == 3 ? 4 * epilogue.constants() : 0) + c % 4;
                    for (int i = 0; i < 3 * channels; i++) {
                        int place = place(channels, kind, i, pixel / 2);
                        long factor = p.get(0).get(place + 1) * 256 + (p.get(0).get(place) & 0xFF);
                        long word = p.get(1).get(weights + (i / 4 * 2 + i % 2) * 4);
                        m[kind] += factor * (short) (i % 4 < 2 ? word : word >> 16);
                    }
                }
                boolean isFirst = pixel % 2 == 0;
                long scaled = isFirst ? m[0] + m[1] + m[2] : m[0] - m[1] + m[3];
                int constants = block
                        + (isFirst ? 3 * kindWords : 4 * kindWords + 4 * epilogue.constants())
                        + c % 4 * epilogue.constants();
                p.get(2).put(pixel * pitch + c, epilogue.apply(scaled / 128, p.get(1), constants));
            }
        }
    }
}
