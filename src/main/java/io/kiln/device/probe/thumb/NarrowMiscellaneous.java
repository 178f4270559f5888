// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

/** 16-bit instructions on high registers and the stack pointer, extensions, compare and branch, IT and hints. */
final class NarrowMiscellaneous {
    private NarrowMiscellaneous() {}

    /** ADD, CMP, MOV, BX and BLX. */
    static boolean highRegister(Machine m, int code) {
        int target = (code & 7) | (code >>> 4 & 8);
        int operand = m.get(code >>> 3 & 15);
        switch (code >>> 8 & 3) {
            case 0 -> m.set(target, m.get(target) + operand);
            case 1 -> m.add(m.get(target), ~operand, true, true);
            case 2 -> m.set(target, operand);
            default -> {
                if ((operand & 1) == 0) {
                    return false;
                }
                if ((code & 0x80) != 0) {
                    m.link();
                }
                m.branch(operand);
            }
        }
        return true;
    }

    /** ADR and ADD to the stack pointer. */
    static boolean address(Machine m, int code) {
        int base = (code & 1 << 11) == 0 ? m.literalBase() : m.get(Registers.SP);
        m.set(code >>> 8 & 7, base + (code & 0xff) * 4);
        return true;
    }

    static boolean execute(Machine m, int code) {
        return switch (code >>> 8 & 15) {
            case 0 -> stackPointer(m, code);
            case 1, 3, 9, 11 -> compareAndBranch(m, code);
            case 2 -> extend(m, code);
            case 4, 5, 12, 13 -> NarrowTransfers.stack(m, code);
            case 6 -> code >>> 5 == 0x5b3;
            case 10 -> reverse(m, code);
            case 15 -> itOrHint(m, code);
            default -> false;
        };
    }

    private static boolean stackPointer(Machine m, int code) {
        int offset = (code & 0x7f) * 4;
        m.set(Registers.SP, m.get(Registers.SP) + ((code & 0x80) == 0 ? offset : -offset));
        return true;
    }

    private static boolean compareAndBranch(Machine m, int code) {
        boolean branchOnZero = (code & 1 << 11) == 0;
        if (m.get(code & 7) == 0 == branchOnZero) {
            m.branch(m.get(Registers.PC) + (((code >>> 3 & 31) | (code >>> 4 & 32)) << 1));
        }
        return true;
    }

    private static boolean extend(Machine m, int code) {
        int value = m.get(code >>> 3 & 7);
        m.set(
                code & 7,
                switch (code >>> 6 & 3) {
                    case 0 -> (short) value;
                    case 1 -> (byte) value;
                    case 2 -> value & 0xffff;
                    default -> value & 0xff;
                });
        return true;
    }

    private static boolean reverse(Machine m, int code) {
        int value = Integer.reverseBytes(m.get(code >>> 3 & 7));
        switch (code >>> 6 & 3) {
            case 0 -> m.set(code & 7, value);
            case 1 -> m.set(code & 7, Integer.rotateRight(value, 16));
            case 3 -> m.set(code & 7, value >> 16);
            default -> {
                return false;
            }
        }
        return true;
    }

    private static boolean itOrHint(Machine m, int code) {
        if ((code & 15) != 0) {
            m.startItBlock(code & 0xff);
        }
        return true;
    }
}
