// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

/** 16-bit shifts, additions, moves and comparisons of low registers. Outside of IT blocks they set flags. */
final class NarrowArithmetic {
    private NarrowArithmetic() {}

    static boolean immediate(Machine m, int code) {
        boolean flags = !m.inItBlock();
        int low = code & 7;
        int middle = code >>> 3 & 7;
        int register = code >>> 8 & 7;
        int value = code & 0xff;
        switch (code >>> 11) {
            case 0, 1, 2 -> {
                Shifter shifted = Shifter.byImmediate(m.get(middle), code >>> 11, code >>> 6 & 31, m.registers.carry);
                m.set(low, m.logical(shifted.value(), shifted.carry(), flags));
            }
            case 3 -> {
                int operand = (code & 1 << 10) != 0 ? code >>> 6 & 7 : m.get(code >>> 6 & 7);
                boolean subtract = (code & 1 << 9) != 0;
                m.set(low, m.add(m.get(middle), subtract ? ~operand : operand, subtract, flags));
            }
            case 4 -> m.set(register, m.logical(value, m.registers.carry, flags));
            case 5 -> m.add(m.get(register), ~value, true, true);
            case 6 -> m.set(register, m.add(m.get(register), value, false, flags));
            default -> m.set(register, m.add(m.get(register), ~value, true, flags));
        }
        return true;
    }

    static boolean register(Machine m, int code) {
        boolean flags = !m.inItBlock();
        boolean carry = m.registers.carry;
        int target = code & 7;
        int a = m.get(target);
        int b = m.get(code >>> 3 & 7);
        switch (code >>> 6 & 15) {
            case 0 -> m.set(target, m.logical(a & b, carry, flags));
            case 1 -> m.set(target, m.logical(a ^ b, carry, flags));
            case 2 -> shift(m, target, 0, b);
            case 3 -> shift(m, target, 1, b);
            case 4 -> shift(m, target, 2, b);
            case 5 -> m.set(target, m.add(a, b, carry, flags));
            case 6 -> m.set(target, m.add(a, ~b, carry, flags));
            case 7 -> shift(m, target, 3, b);
            case 8 -> m.logical(a & b, carry, true);
            case 9 -> m.set(target, m.add(0, ~b, true, flags));
            case 10 -> m.add(a, ~b, true, true);
            case 11 -> m.add(a, b, false, true);
            case 12 -> m.set(target, m.logical(a | b, carry, flags));
            case 13 -> m.set(target, m.logical(a * b, carry, flags));
            case 14 -> m.set(target, m.logical(a & ~b, carry, flags));
            default -> m.set(target, m.logical(~b, carry, flags));
        }
        return true;
    }

    private static void shift(Machine m, int target, int type, int amount) {
        Shifter shifted = Shifter.byAmount(m.get(target), type, amount & 0xff, m.registers.carry);
        m.set(target, m.logical(shifted.value(), shifted.carry(), !m.inItBlock()));
    }
}
