// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Weights of a test's convolution, in the order and the code in which the hardware takes them; values are not compressed. */
final class NpuWeights {
    private static final int MOST_IN_A_SLICE = 1 << 15;
    private static final int VALUE_BITS = 9;
    private static final int SUBKERNEL = 8;
    private static final int MICRO_DEPTH = 8;

    /**
     * What decides the order.
     *
     * @param inputs channels of the IFM, 1 of a depthwise convolution
     * @param inputBlock how many of them are taken together
     * @param microDepth OFM channels of a micro-block
     * @param height rows of a kernel's part
     * @param width its columns
     */
    record Order(
            int inputs,
            int inputBlock,
            int microDepth,
            boolean isDepthwise,
            boolean isPartFirst,
            boolean isWide,
            int height,
            int width) {
        static Order of(NpuWindow window, NpuMap ifm, boolean isDepthwise, int microDepth) {
            boolean isWide = ifm.type().bytes() == 2;
            return new Order(
                    isDepthwise ? 1 : ifm.size().depth(),
                    window.isPartFirst() || isWide ? 16 : 32,
                    microDepth,
                    isDepthwise,
                    window.isPartFirst(),
                    isWide,
                    SUBKERNEL / window.dilationY(),
                    SUBKERNEL / window.dilationX());
        }

        int padded(int elements) {
            if (isDepthwise || (isPartFirst && !isWide)) {
                return (elements + 3) / 4 * 4;
            }
            return isPartFirst ? (elements + 1) / 2 * 2 : elements;
        }
    }

    /** A weight's place: output channel, row, column, input channel. */
    private final int[][][][] values;

    NpuWeights(int outputs, NpuWindow window, int inputs, Random random) {
        values = new int[outputs][window.height()][window.width()][inputs];
        for (int[][][] kernel : values) {
            for (int[][] row : kernel) {
                for (int[] column : row) {
                    Arrays.setAll(column, i -> random.nextInt(3) == 0 ? 0 : random.nextInt(511) - 255);
                }
            }
        }
    }

    int get(int output, int y, int x, int input) {
        return values[output][y][x][input];
    }

    /** The stream for some output channels, a block of them after the other. */
    byte[] stream(List<Integer> outputs, int block, Order order) {
        List<Integer> all = new ArrayList<>();
        for (int first = 0; first < outputs.size(); first += block) {
            block(outputs.subList(first, Math.min(outputs.size(), first + block)), order, all);
        }
        return encoded(all);
    }

    private void block(List<Integer> outputs, Order order, List<Integer> all) {
        int height = values[0].length;
        int width = values[0][0].length;
        for (int input = 0; input < order.inputs(); input += order.inputBlock()) {
            int rest = order.inputs() - input;
            int inputs = order.isDepthwise()
                    ? MICRO_DEPTH
                    : order.isPartFirst() ? Math.min(rest, order.inputBlock()) : order.inputBlock();
            for (int y = 0; y < height; y += order.height()) {
                for (int x = 0; x < width; x += order.width()) {
                    int[] part = {
                        y,
                        x,
                        Math.min(order.height(), height - y),
                        Math.min(order.width(), width - x),
                        input,
                        (inputs + MICRO_DEPTH - 1) / MICRO_DEPTH
                    };
                    part(outputs, order, part, all);
                }
            }
        }
    }

    /** A part of the kernel: its row, column, height and width, the first input channel, and how many micro-blocks of them. */
    private void part(List<Integer> outputs, Order order, int[] part, List<Integer> all) {
        int elements = order.padded(part[2] * part[3]);
        int outer = order.isPartFirst() && !order.isDepthwise() ? part[5] : 1;
        int inner = part[5] / outer;
        int depth = order.isDepthwise() ? 1 : MICRO_DEPTH;
        for (int before = 0; before < outer; before++) {
            for (int output = 0; output < outputs.size(); output += order.microDepth()) {
                for (int element = 0; element < elements; element++) {
                    for (int block = before; block < before + inner; block++) {
                        for (int o = output; o < output + order.microDepth(); o++) {
                            for (int i = 0; i < depth; i++) {
                                boolean isReal = o < outputs.size() && element < part[2] * part[3];
                                int input = part[4] + block * MICRO_DEPTH + i;
                                all.add(
                                        isReal && input < order.inputs()
                                                ? values[outputs.get(o)][part[0] + element / part[3]][
                                                        part[1] + element % part[3]][input]
                                                : 0);
                            }
                        }
                    }
                }
            }
        }
    }

    /** Slices without palette, compression and runs of zeros, and an end. */
    static byte[] encoded(List<Integer> weights) {
        Bits bits = new Bits();
        for (int first = 0; first < weights.size(); first += MOST_IN_A_SLICE) {
            List<Integer> slice = weights.subList(first, Math.min(weights.size(), first + MOST_IN_A_SLICE));
            bits.add(6, 3).add(slice.size() - 1, 15).add(7, 3).add(0, 1).add(1, 1);
            bits.add(0, 5).add(0, 5).add(VALUE_BITS - 2, 3);
            slice.forEach(weight -> bits.add(Math.abs(weight) << 1 | (weight < 0 ? 1 : 0), VALUE_BITS));
        }
        return bits.add(7, 3).padded();
    }

    /** Bits, the lowest first. */
    private static final class Bits {
        private final NpuJob.Numbers bytes = new NpuJob.Numbers();
        private long held;
        private int count;

        Bits add(int value, int size) {
            held |= (long) value << count;
            count += size;
            while (count >= 8) {
                bytes.bytes(new byte[] {(byte) held});
                held >>= 8;
                count -= 8;
            }
            return this;
        }

        byte[] padded() {
            while (count > 0 || bytes.size() % 16 != 0) {
                add((1 << (8 - count)) - 1, 8 - count);
            }
            return bytes.toByteArray();
        }
    }
}
