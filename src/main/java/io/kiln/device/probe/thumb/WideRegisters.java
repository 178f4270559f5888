// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

/** 32-bit instructions on registers only: shifts, extensions, reversals, multiplication and division. */
final class WideRegisters {
    private WideRegisters() {}

    static boolean execute(Machine m, int first, int second) {
        int kind = first >>> 4 & 31;
        if (kind < 16) {
            return (second & 0xf000) == 0xf000 && shiftOrExtend(m, first, second);
        }
        return kind < 24 ? multiply(m, first, second) : longMultiply(m, first, second);
    }

    private static boolean shiftOrExtend(Machine m, int first, int second) {
        int target = second >>> 8 & 15;
        int operand = m.get(second & 15);
        int kind = first >>> 4 & 15;
        if (kind < 8 && (second & 0xf0) == 0) {
            Shifter shifted = Shifter.byAmount(m.get(first & 15), kind >>> 1, operand & 0xff, m.registers.carry);
            m.set(target, m.logical(shifted.value(), shifted.carry(), (kind & 1) != 0));
            return true;
        }
        if (kind < 8) {
            return extend(m, first, second);
        }
        switch (kind << 4 | (second >>> 4 & 15)) {
            case 0x98 -> m.set(target, Integer.reverseBytes(operand));
            case 0x99 -> m.set(target, Integer.rotateRight(Integer.reverseBytes(operand), 16));
            case 0x9a -> m.set(target, Integer.reverse(operand));
            case 0x9b -> m.set(target, Integer.reverseBytes(operand) >> 16);
            case 0xb8 -> m.set(target, Integer.numberOfLeadingZeros(operand));
            default -> {
                return false;
            }
        }
        return true;
    }

    private static boolean extend(Machine m, int first, int second) {
        int value = Integer.rotateRight(m.get(second & 15), 8 * (second >>> 4 & 3));
        int source = first & 15;
        int extended;
        switch (first >>> 4 & 7) {
            case 0 -> extended = (short) value;
            case 1 -> extended = value & 0xffff;
            case 4 -> extended = (byte) value;
            case 5 -> extended = value & 0xff;
            default -> {
                return false;
            }
        }
        m.set(second >>> 8 & 15, source == Registers.PC ? extended : m.get(source) + extended);
        return true;
    }

    private static boolean multiply(Machine m, int first, int second) {
        int product = m.get(first & 15) * m.get(second & 15);
        int addend = second >>> 12;
        int kind = second >>> 4 & 15;
        if ((first >>> 4 & 7) != 0 || kind > 1) {
            return false;
        }
        int base = addend == Registers.PC ? 0 : m.get(addend);
        m.set(second >>> 8 & 15, kind == 0 ? base + product : base - product);
        return true;
    }

    private static boolean longMultiply(Machine m, int first, int second) {
        int a = m.get(first & 15);
        int b = m.get(second & 15);
        int high = second >>> 8 & 15;
        int low = second >>> 12;
        long signed = (long) a * b;
        long unsigned = (a & 0xffffffffL) * (b & 0xffffffffL);
        long sum = (long) m.get(high) << 32 | (m.get(low) & 0xffffffffL);
        return switch ((first & 0x70) << 4 | (second & 0xf0)) {
            case 0x000 -> putLong(m, low, high, signed);
            case 0x1f0 -> put(m, high, b == 0 ? 0 : a / b);
            case 0x200 -> putLong(m, low, high, unsigned);
            case 0x3f0 -> put(m, high, b == 0 ? 0 : Integer.divideUnsigned(a, b));
            case 0x400 -> putLong(m, low, high, sum + signed);
            case 0x600 -> putLong(m, low, high, sum + unsigned);
            default -> false;
        };
    }

    private static boolean put(Machine m, int target, int value) {
        m.set(target, value);
        return true;
    }

    private static boolean putLong(Machine m, int low, int high, long value) {
        m.set(low, (int) value);
        m.set(high, (int) (value >>> 32));
        return true;
    }
}
