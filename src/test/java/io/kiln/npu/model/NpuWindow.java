// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu.model;

import java.util.List;
import java.util.Random;
import java.util.function.IntUnaryOperator;

/** A window of a test's convolution or pool. */
record NpuWindow(Axis y, Axis x, int upscale, boolean isPartFirst) {
    /** One direction: elements of the window, stride, dilation, padding before and after. */
    private record Axis(int size, int stride, int dilation, int before, int after) {
        static Axis drawn(Random random, int most) {
            int size = 1 + random.nextInt(random.nextInt(8) == 0 ? 11 : most);
            int dilation = 1 + random.nextInt(2);
            int extent = dilation * (size - 1) + 1;
            return new Axis(size, 1 + random.nextInt(3), dilation, random.nextInt(extent), random.nextInt(extent));
        }

        /** Elements of the input, as far as the window sees them. */
        int input(int output) {
            return (output - 1) * stride + dilation * (size - 1) + 1 - before - after;
        }
    }

    static NpuWindow drawn(Random random) {
        int upscale = random.nextInt(3) == 0 ? 1 + random.nextInt(2) : 0;
        return new NpuWindow(Axis.drawn(random, 4), Axis.drawn(random, 4), upscale, random.nextBoolean());
    }

    /** A pool's hardware has no dilation. */
    int height() {
        return y.size();
    }

    int width() {
        return x.size();
    }

    int dilationY() {
        return y.dilation();
    }

    int dilationX() {
        return x.dilation();
    }

    /** Whether the padding leaves something of the input. */
    boolean fits(NpuMap.Size output) {
        return y.input(output.height()) > 0 && x.input(output.width()) > 0;
    }

    /** The size of the input in memory. */
    NpuMap.Size input(NpuMap.Size output, int depth) {
        IntUnaryOperator stored = size -> upscale == 0 ? size : (size + 1) / 2;
        return new NpuMap.Size(
                stored.applyAsInt(y.input(output.height())), stored.applyAsInt(x.input(output.width())), depth);
    }

    /** What a window's element sees. */
    interface Seen {
        /** A value without its zero point at an element of the window; zeros between values are seen as well. */
        void value(int row, int column, long value);
    }

    /** Looks through the window at an output's position; what lies outside is not seen. */
    void look(NpuMap input, NpuMap.Size output, int[] at, Seen seen) {
        for (int row = 0; row < y.size(); row++) {
            for (int column = 0; column < x.size(); column++) {
                int line = at[0] * y.stride() + row * y.dilation() - y.before();
                int place = at[1] * x.stride() + column * x.dilation() - x.before();
                boolean isInside =
                        line >= 0 && line < y.input(output.height()) && place >= 0 && place < x.input(output.width());
                if (!isInside) {
                    continue;
                }
                boolean isBetween = upscale == 2 && (line % 2 == 1 || place % 2 == 1);
                int scale = upscale == 0 ? 1 : 2;
                seen.value(row, column, isBetween ? 0 : input.get(line / scale, place / scale, at[2]) - input.zero());
            }
        }
    }

    void describe(NpuStream stream) {
        stream.all(NpuStream.IFM_PAD_TOP, List.of(y.before(), x.before(), x.after(), y.after()))
                .set(NpuStream.IFM_UPSCALE, upscale)
                .all(NpuStream.KERNEL_WIDTH_M1, List.of(x.dilation() * (x.size() - 1), y.dilation() * (y.size() - 1)))
                .set(
                        NpuStream.KERNEL_STRIDE,
                        (x.stride() - 1) % 2
                                | (y.stride() - 1) % 2 << 1
                                | (isPartFirst ? 1 : 0) << 2
                                | (x.dilation() - 1) << 3
                                | (y.dilation() - 1) << 4
                                | ((x.stride() - 1) / 2) << 6
                                | ((y.stride() - 1) / 2) << 9);
    }
}
