// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.FixedPoint;
import io.kiln.tir.KernelTwins.Memory;
import java.util.List;

/** The micro-kernels for MVE, in Java. */
final class MveTwins implements KernelTwins.Twin {
    @Override
    public boolean knows(String kernel) {
        return kernel.startsWith("kiln_mve_")
                && !kernel.startsWith("kiln_mve_dot")
                && !kernel.startsWith("kiln_mve_depthf_");
    }

    @Override
    public void run(String kernel, List<Memory> pointers, List<Long> scalars) {
        int[] s = scalars.stream().mapToInt(Long::intValue).toArray();
        String[] parts = kernel.substring("kiln_mve_".length()).split("[_x]", -1);
        switch (parts[0]) {
            case "gemm" -> gemm(Integer.parseInt(parts[1]), Integer.parseInt(parts[3]), pointers, s);
            case "fill" -> {
                boolean every = parts.length > 1;
                int run = every ? Integer.parseInt(parts[2]) : s[1];
                fill(pointers.get(0), s[0], run, every ? s[1] : 1, every ? s[2] : 0);
            }
            case "copy" -> spread(pointers.get(0), pointers.get(1), new int[] {s[0], 0, 0}, 1);
            case "spread" -> {
                int[] runs = {Integer.parseInt(parts[1]), Integer.parseInt(parts[2]), Integer.parseInt(parts[3])};
                spread(pointers.get(0), pointers.get(1), runs, s[0]);
            }
            case "interleave" -> interleave(pointers.get(0), pointers.get(1), Integer.parseInt(parts[1]), s);
            case "depthwise" -> depthwise(pointers, s);
            case "sum" -> sum(pointers, Integer.parseInt(parts[1]), s);
            default -> throw new IllegalArgumentException(kernel);
        }
    }

    private static void gemm(int depth, int block, List<Memory> pointers, int[] s) {
        int vectors = (depth + 15) / 16;
        int blockBytes = block * (16 * vectors + 12);
        Memory x = pointers.get(0);
        Memory packed = pointers.get(1);
        int channels = s[2];
        for (int p = 0; p < s[0]; p++) {
            for (int c = 0; c < channels; c++) {
                int start = c / block * blockBytes;
                int lane = c % block;
                long acc = 0;
                for (int k = 0; k < depth; k++) {
                    acc += x.get(p * s[1] + k) * packed.get(start + (k / 16 * block + lane) * 16 + k % 16);
                }
                int at = start + 16 * vectors * block + 4 * lane;
                int[] constants = new int[3];
                for (int i = 0; i < 3; i++) {
                    constants[i] = word(packed, at + 4 * block * i);
                }
                pointers.get(2).put(p * channels + c, result(acc, constants, s));
            }
        }
    }

    /** Constants are bias, multiplier and shift; zero point, low and high are the last three scalars. */
    private static long result(long acc, int[] constants, int[] s) {
        int sum = Math.toIntExact(acc + constants[0]);
        long value = FixedPoint.multiplyByQuantizedMultiplier(sum, constants[1], constants[2]) + (long) s[s.length - 3];
        return FixedPoint.clamp(value, s[s.length - 2], s[s.length - 1]);
    }

    private static void interleave(Memory from, Memory to, int rows, int[] s) {
        for (int i = 0; i < s[0]; i++) {
            for (int row = 0; row < rows; row++) {
                to.put(4 * i + row, s[2 + row] < 0 ? s[1] : from.get(s[2 + row] + i));
            }
        }
    }

    private static void depthwise(List<Memory> pointers, int[] s) {
        Memory packed = pointers.get(2);
        for (int p = 0; p < s[0]; p++) {
            for (int c = 0; c < 4 * s[2]; c++) {
                int group = c / 4 * 28;
                long acc = 0;
                for (int k = 0; k < 16; k++) {
                    int word = (int) packed.get(group + c % 4 * 4 + k / 4);
                    int place = p * s[1] + 4 * c + (int) pointers.get(1).get(k / 4) + k % 4;
                    acc += pointers.get(0).get(place) * (byte) (word >> (8 * (k % 4)));
                }
                int[] constants = new int[3];
                for (int i = 0; i < 3; i++) {
                    constants[i] = (int) packed.get(group + 16 + 4 * i + c % 4);
                }
                pointers.get(3).put(p * s[3] + c, result(acc, constants, s));
            }
        }
    }

    private static void sum(List<Memory> p, int shift, int[] s) {
        for (int i = 0; i < s[0]; i++) {
            long sum = Math.addExact((int) (p.get(0).get(i) * s[1] + p.get(1).get(i) * s[2]), s[3]);
            p.get(2).put(i, FixedPoint.clamp(sum >> shift, s[4], s[5]));
        }
    }

    private static int word(Memory bytes, int at) {
        int word = 0;
        for (int i = 0; i < 4; i++) {
            word |= (int) (bytes.get(at + i) & 0xFF) << (8 * i);
        }
        return word;
    }

    private static void fill(Memory to, int value, int run, int count, int step) {
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < run; k++) {
                to.put(i * step + k, value);
            }
        }
    }

    /** Runs are a length, a step to read and a step to write. */
    private static void spread(Memory from, Memory to, int[] runs, int count) {
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < runs[0]; k++) {
                to.put(i * runs[2] + k, from.get(i * runs[1] + k));
            }
        }
    }
}
