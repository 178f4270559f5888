// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.FixedPoint;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Depthwise convolutions for Arm's DSP instructions: input, padding, scratch, table, output; input rows, blocks of four channels. */
final class DspDepthwiseTwin implements KernelTwins.Twin {
    private static final Pattern NAME =
            Pattern.compile("kiln_depthwise_(\\d+)x(\\d+)_stride(\\d+)x(\\d+)_w(\\d+)_c(\\d+)_p(\\d+)_i(\\d+)"
                    + "(?:_padded)?_rows(\\d)_scale(\\d+)_shift(\\d+)(?:_late(m)?(\\d+))?(?:_limit_(\\d+)_(\\d+))?");

    @Override
    public boolean knows(String kernel) {
        return NAME.matcher(kernel).matches();
    }

    @Override
    public void run(String kernel, List<KernelTwins.Memory> pointers, List<Long> scalars) {
        Matcher name = NAME.matcher(kernel);
        if (!name.matches()) {
            throw new IllegalArgumentException(kernel);
        }
        new Run(name, pointers, scalars).run();
    }

    private static final class Run {
        private final Matcher name;
        private final List<KernelTwins.Memory> pointers;
        private final List<Long> scalars;
        private final int kernelH;
        private final int kernelW;
        private final int strideH;
        private final int width;
        private final int channels;
        private final int rows;
        private final int wordsPerChannel;

        Run(Matcher name, List<KernelTwins.Memory> pointers, List<Long> scalars) {
            this.name = name;
            this.pointers = pointers;
            this.scalars = scalars;
            this.kernelH = number(1);
            this.kernelW = number(2);
            this.strideH = number(3);
            this.width = number(5);
            this.channels = number(6);
            this.rows = number(9);
            this.wordsPerChannel = weights() + (name.group(13) == null ? 2 : 3);
        }

        private int number(int group) {
            return Integer.parseInt(name.group(group));
        }

        private int weights() {
            return kernelW * Math.max(1, kernelH - 1);
        }

        void run() {
            int blocks = scalars.get(scalars.size() - 1).intValue();
            for (int c = 0; c < 4 * blocks; c++) {
                for (int row = 0; row < rows; row++) {
                    for (int x = 0; x < width; x++) {
                        pointers.get(4).put((row * width + x) * channels + c, output(c, row, x));
                    }
                }
            }
        }

        private long output(int channel, int row, int x) {
            long sum = 0;
            for (int ky = 0; ky < kernelH; ky++) {
                for (int kx = 0; kx < kernelW; kx++) {
                    sum += value(channel, row * strideH + ky, x * number(4) + kx) * weight(channel, ky, kx);
                    Math.toIntExact(sum);
                }
            }
            KernelTwins.Memory table = pointers.get(3);
            int at = channel * wordsPerChannel + weights();
            long high = Math.toIntExact(table.get(at + 1) + ((sum * table.get(at)) >> 32));
            if (name.group(13) != null) {
                high += (long) number(13) * (name.group(12) == null ? 1 : -1) - (high < 0 ? table.get(at + 2) : 0);
                Math.toIntExact(high);
            }
            int low = name.group(14) == null ? -128 : number(14) - 128;
            int most = name.group(15) == null ? 127 : number(15) - 128;
            return FixedPoint.clamp(high >> number(11), low, most);
        }

        /** An input times 256; what is left or right of the rows is in the scratch already, for any channel. */
        private long value(int channel, int row, int column) {
            int inside = column - number(7);
            if (inside < 0 || inside >= number(8)) {
                int halves = (strideH + kernelH + 1) / 2 * 2;
                return pointers.get(2).get((column * 4 + channel % 4) * halves + row);
            }
            int offset = scalars.get(row).intValue();
            int place = inside * channels + channel;
            return 256
                    * (offset < 0 ? pointers.get(1).get(place) : pointers.get(0).get(offset + place));
        }

        /** Pairs that begin at even rows come first, then those that begin at odd ones. */
        private long weight(int channel, int ky, int kx) {
            int first = ky == kernelH - 1 && ky > 0 ? ky - 1 : ky;
            int word = first / 2 + (first % 2 == 0 ? 0 : kernelH / 2);
            long both = pointers.get(3).get(channel * wordsPerChannel + kx * Math.max(1, kernelH - 1) + word);
            return (short) (ky == first ? both : both >> 16);
        }
    }
}
