// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

/** Branches of both widths, and the barriers and hints that share their encoding space. */
final class Branches {
    private Branches() {}

    static boolean narrow(Machine m, int code) {
        if (code >>> 11 == 0x1c) {
            m.branch(m.get(Registers.PC) + (code << 21 >> 20));
            return true;
        }
        int condition = code >>> 8 & 15;
        if (condition >= 14) {
            return false;
        }
        if (m.registers.holds(condition)) {
            m.branch(m.get(Registers.PC) + ((byte) code) * 2);
        }
        return true;
    }

    static boolean wide(Machine m, int first, int second) {
        int target = m.get(Registers.PC);
        switch (second >>> 12 & 5) {
            case 0 -> {
                return conditional(m, first, second);
            }
            case 1 -> m.branch(target + distance(first, second));
            case 5 -> {
                m.link();
                m.branch(target + distance(first, second));
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private static int distance(int first, int second) {
        int sign = first >>> 10 & 1;
        int bit23 = (second >>> 13 & 1) == sign ? 1 : 0;
        int bit22 = (second >>> 11 & 1) == sign ? 1 : 0;
        return -sign << 24 | bit23 << 23 | bit22 << 22 | (first & 0x3ff) << 12 | (second & 0x7ff) << 1;
    }

    private static boolean conditional(Machine m, int first, int second) {
        int condition = first >>> 6 & 15;
        if (condition >= 14) {
            boolean hint = first == 0xf3af && second >>> 8 == 0x80;
            boolean barrier = first == 0xf3bf && second >>> 8 == 0x8f;
            return hint || barrier;
        }
        int sign = first >>> 10 & 1;
        int distance = -sign << 20
                | (second >>> 11 & 1) << 19
                | (second >>> 13 & 1) << 18
                | (first & 0x3f) << 12
                | (second & 0x7ff) << 1;
        if (m.registers.holds(condition)) {
            m.branch(m.get(Registers.PC) + distance);
        }
        return true;
    }
}
