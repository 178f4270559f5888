// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

/** 32-bit data processing with a modified immediate or a shifted register as second operand. */
final class WideArithmetic {
    private static final int NONE = 15;

    private WideArithmetic() {}

    static boolean modifiedImmediate(Machine m, int first, int second) {
        return apply(m, first, second, Shifter.modifiedImmediate(immediate12(first, second), m.registers.carry));
    }

    static boolean shiftedRegister(Machine m, int first, int second) {
        int amount = (second >>> 10 & 0x1c) | (second >>> 6 & 3);
        return apply(
                m, first, second, Shifter.byImmediate(m.get(second & 15), second >>> 4 & 3, amount, m.registers.carry));
    }

    /** The field i:imm3:imm8. */
    static int immediate12(int first, int second) {
        return (first << 1 & 0x800) | (second >>> 4 & 0x700) | (second & 0xff);
    }

    private static boolean apply(Machine m, int first, int second, Shifter operand) {
        boolean flags = (first & 0x10) != 0;
        int target = second >>> 8 & 15;
        int source = first & 15;
        int a = m.get(source);
        int b = operand.value();
        boolean carry = m.registers.carry;
        boolean shiftCarry = operand.carry();
        // Without a target register it is the comparison; without a source register it is the move.
        return switch (first >>> 5 & 15) {
            case 0 -> put(m, target, m.logical(a & b, shiftCarry, flags));
            case 1 -> put(m, target, m.logical(a & ~b, shiftCarry, flags));
            case 2 -> put(m, target, m.logical(source == NONE ? b : a | b, shiftCarry, flags));
            case 3 -> put(m, target, m.logical(source == NONE ? ~b : a | ~b, shiftCarry, flags));
            case 4 -> put(m, target, m.logical(a ^ b, shiftCarry, flags));
            case 8 -> put(m, target, m.add(a, b, false, flags));
            case 10 -> put(m, target, m.add(a, b, carry, flags));
            case 11 -> put(m, target, m.add(a, ~b, carry, flags));
            case 13 -> put(m, target, m.add(a, ~b, true, flags));
            case 14 -> put(m, target, m.add(~a, b, true, flags));
            default -> false;
        };
    }

    private static boolean put(Machine m, int target, int value) {
        if (target != NONE) {
            m.set(target, value);
        }
        return true;
    }
}
