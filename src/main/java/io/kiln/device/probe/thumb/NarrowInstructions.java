// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

/** 16-bit instructions but branches. Outside of IT blocks those that compute on low registers set flags. */
final class NarrowInstructions {
    private NarrowInstructions() {}

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

    static boolean miscellaneous(Machine m, int code) {
        return switch (code >>> 8 & 15) {
            case 0 -> stackPointer(m, code);
            case 1, 3, 9, 11 -> compareAndBranch(m, code);
            case 2 -> extend(m, code);
            case 4, 5, 12, 13 -> stack(m, code);
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

    static boolean literal(Machine m, int code) {
        m.set(code >>> 8 & 7, m.memory.read(m.literalBase() + (code & 0xff) * 4, 4));
        return true;
    }

    static boolean single(Machine m, int code) {
        int register = code & 7;
        int base = m.get(code >>> 3 & 7);
        int offset = code >>> 6 & 31;
        boolean load = (code & 1 << 11) != 0;
        switch (code >>> 12) {
            case 5 -> registerOffset(m, code >>> 9 & 7, register, base + m.get(code >>> 6 & 7));
            case 6 -> transfer(m, load, register, base + offset * 4, 4);
            case 7 -> transfer(m, load, register, base + offset, 1);
            case 8 -> transfer(m, load, register, base + offset * 2, 2);
            default -> transfer(m, load, code >>> 8 & 7, m.get(Registers.SP) + (code & 0xff) * 4, 4);
        }
        return true;
    }

    private static void registerOffset(Machine m, int kind, int register, int address) {
        switch (kind) {
            case 0 -> m.memory.write(address, 4, m.get(register));
            case 1 -> m.memory.write(address, 2, m.get(register));
            case 2 -> m.memory.write(address, 1, m.get(register));
            case 3 -> m.set(register, (byte) m.memory.read(address, 1));
            case 4 -> m.set(register, m.memory.read(address, 4));
            case 5 -> m.set(register, m.memory.read(address, 2));
            case 6 -> m.set(register, m.memory.read(address, 1));
            default -> m.set(register, (short) m.memory.read(address, 2));
        }
    }

    private static void transfer(Machine m, boolean load, int register, int address, int size) {
        if (load) {
            m.set(register, m.memory.read(address, size));
        } else {
            m.memory.write(address, size, m.get(register));
        }
    }

    /** PUSH and POP. */
    private static boolean stack(Machine m, int code) {
        boolean load = (code & 1 << 11) != 0;
        int extra = (code & 0x100) == 0 ? 0 : 1 << (load ? Registers.PC : Registers.LR);
        int list = (code & 0xff) | extra;
        int sp = m.get(Registers.SP);
        int size = 4 * Integer.bitCount(list);
        block(m, load, list, load ? sp : sp - size);
        m.set(Registers.SP, load ? sp + size : sp - size);
        return true;
    }

    /** LDM and STM; a base register that is also loaded is not written back. */
    static boolean multiple(Machine m, int code) {
        boolean load = (code & 1 << 11) != 0;
        int base = code >>> 8 & 7;
        int list = code & 0xff;
        int start = m.get(base);
        block(m, load, list, start);
        if (!load || (list & 1 << base) == 0) {
            m.set(base, start + 4 * Integer.bitCount(list));
        }
        return true;
    }

    /** Transfers the registers of the list from or to ascending addresses. */
    static void block(Machine m, boolean load, int list, int start) {
        int address = start;
        for (int register = 0; register < 16; register++) {
            if ((list & 1 << register) != 0) {
                transfer(m, load, register, address, 4);
                address += 4;
            }
        }
    }
}
