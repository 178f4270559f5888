// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

/** Executes instructions one by one. Exceptions are not taken: their cause ends the run as an outcome. */
public final class ThumbCore {
    private final Machine machine;

    public ThumbCore(Memory memory) {
        this.machine = new Machine(memory);
    }

    /** The result of an instruction. */
    public enum Outcome {
        /** The next instruction can be executed. */
        CONTINUE,
        /** A BKPT; the program counter stays on it. */
        BREAKPOINT,
        /** A bus fault, or an instruction that is undefined or not supported; the program counter stays on it. */
        FAULT
    }

    public Registers registers() {
        return machine.registers;
    }

    /** Executes the instruction at the program counter. */
    public Outcome step() {
        Registers registers = machine.registers;
        int address = registers.get(Registers.PC);
        try {
            int first = machine.memory.read(address, 2);
            if (first >>> 8 == 0xbe) {
                return Outcome.BREAKPOINT;
            }
            boolean wide = first >>> 11 >= 0x1d;
            int second = wide ? machine.memory.read(address + 2, 2) : 0;
            machine.begin(address, wide ? 4 : 2);
            if (machine.conditionHolds() && !(wide ? wide(first, second) : narrow(first))) {
                return Outcome.FAULT;
            }
            machine.end();
            return Outcome.CONTINUE;
        } catch (BusFault e) {
            return Outcome.FAULT;
        }
    }

    private boolean narrow(int code) {
        return switch (code >>> 12) {
            case 0, 1, 2, 3 -> NarrowInstructions.immediate(machine, code);
            case 4 ->
                code >>> 11 == 9
                        ? NarrowInstructions.literal(machine, code)
                        : code >>> 10 == 16
                                ? NarrowInstructions.register(machine, code)
                                : NarrowInstructions.highRegister(machine, code);
            case 5, 6, 7, 8, 9 -> NarrowInstructions.single(machine, code);
            case 10 -> NarrowInstructions.address(machine, code);
            case 11 -> NarrowInstructions.miscellaneous(machine, code);
            case 12 -> NarrowInstructions.multiple(machine, code);
            default -> Branches.narrow(machine, code);
        };
    }

    private boolean wide(int first, int second) {
        return switch (first >>> 9 & 15) {
            case 4 -> WideInstructions.multipleOrDual(machine, first, second);
            case 5 -> WideInstructions.shiftedRegister(machine, first, second);
            case 8, 10 ->
                second >>> 15 == 1
                        ? Branches.wide(machine, first, second)
                        : WideInstructions.modifiedImmediate(machine, first, second);
            case 9, 11 ->
                second >>> 15 == 1
                        ? Branches.wide(machine, first, second)
                        : WideInstructions.plainImmediate(machine, first, second);
            case 12 -> WideInstructions.single(machine, first, second);
            case 13 -> WideInstructions.registers(machine, first, second);
            default -> false;
        };
    }

    /** Branches of both widths, and the barriers and hints that share their encoding space. */
    private static final class Branches {
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

    /** 32-bit data processing, multiplication, division, loads, stores and table branches. There is no exclusive access. */
    private static final class WideInstructions {
        private static final int NONE = 15;

        private WideInstructions() {}

        static boolean modifiedImmediate(Machine m, int first, int second) {
            return apply(m, first, second, Shifter.modifiedImmediate(immediate12(first, second), m.registers.carry));
        }

        static boolean shiftedRegister(Machine m, int first, int second) {
            int amount = (second >>> 10 & 0x1c) | (second >>> 6 & 3);
            return apply(
                    m,
                    first,
                    second,
                    Shifter.byImmediate(m.get(second & 15), second >>> 4 & 3, amount, m.registers.carry));
        }

        /** ADDW, SUBW, ADR, MOVW, MOVT and bit fields. */
        static boolean plainImmediate(Machine m, int first, int second) {
            int target = second >>> 8 & 15;
            int source = first & 15;
            int immediate = immediate12(first, second);
            int low = (second >>> 10 & 0x1c) | (second >>> 6 & 3);
            int width = second & 31;
            int base = source == Registers.PC ? m.literalBase() : m.get(source);
            switch (first >>> 4 & 31) {
                case 0 -> m.set(target, base + immediate);
                case 4 -> m.set(target, source << 12 | immediate);
                case 10 -> m.set(target, base - immediate);
                case 12 -> m.set(target, source << 28 | immediate << 16 | (m.get(target) & 0xffff));
                case 20 -> m.set(target, base << (31 - low - width) >> (31 - width));
                case 22 -> {
                    int mask = -1 >>> (31 - width + low) << low;
                    int inserted = source == Registers.PC ? 0 : m.get(source) << low & mask;
                    m.set(target, (m.get(target) & ~mask) | inserted);
                }
                case 28 -> m.set(target, base << (31 - low - width) >>> (31 - width));
                default -> {
                    return false;
                }
            }
            return true;
        }

        /** The field i:imm3:imm8. */
        private static int immediate12(int first, int second) {
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

        static boolean registers(Machine m, int first, int second) {
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
                case 0x1f0 -> putWord(m, high, b == 0 ? 0 : a / b);
                case 0x200 -> putLong(m, low, high, unsigned);
                case 0x3f0 -> putWord(m, high, b == 0 ? 0 : Integer.divideUnsigned(a, b));
                case 0x400 -> putLong(m, low, high, sum + signed);
                case 0x600 -> putLong(m, low, high, sum + unsigned);
                default -> false;
            };
        }

        private static boolean putWord(Machine m, int target, int value) {
            m.set(target, value);
            return true;
        }

        private static boolean putLong(Machine m, int low, int high, long value) {
            m.set(low, (int) value);
            m.set(high, (int) (value >>> 32));
            return true;
        }

        static boolean single(Machine m, int first, int second) {
            int size = 1 << (first >>> 5 & 3);
            boolean load = (first & 0x10) != 0;
            boolean signed = (first & 0x100) != 0;
            int register = second >>> 12;
            if (size == 8 || (signed && (!load || size == 4))) {
                return false;
            }
            int base = first & 15;
            if (base == Registers.PC) {
                int distance = (first & 0x80) != 0 ? second & 0xfff : -(second & 0xfff);
                return load && transfer(m, true, signed, register, m.literalBase() + distance, size);
            }
            int start = m.get(base);
            if ((first & 0x80) != 0) {
                return transfer(m, load, signed, register, start + (second & 0xfff), size);
            }
            if ((second & 0x800) == 0) {
                int index = m.get(second & 15) << (second >>> 4 & 3);
                return (second & 0x7c0) == 0 && transfer(m, load, signed, register, start + index, size);
            }
            int distance = (second & 0x200) != 0 ? second & 0xff : -(second & 0xff);
            boolean before = (second & 0x400) != 0;
            boolean writeBack = (second & 0x100) != 0;
            if ((!before && !writeBack)
                    || !transfer(m, load, signed, register, before ? start + distance : start, size)) {
                return false;
            }
            // A base register that is also loaded keeps the loaded value.
            if (writeBack && !(load && base == register)) {
                m.set(base, start + distance);
            }
            return true;
        }

        private static boolean transfer(Machine m, boolean load, boolean signed, int register, int address, int size) {
            if (!load) {
                m.memory.write(address, size, m.get(register));
                return true;
            }
            if (register == Registers.PC && size < 4) {
                // A preload hint.
                return true;
            }
            int value = m.memory.read(address, size);
            int unused = 32 - 8 * size;
            m.set(register, signed ? value << unused >> unused : value);
            return true;
        }

        static boolean multipleOrDual(Machine m, int first, int second) {
            if ((first & 0x40) == 0) {
                return multiple(m, first, second);
            }
            if ((first & 0xfff0) == 0xe8d0 && (second & 0xffe0) == 0xf000) {
                return tableBranch(m, first, second);
            }
            return (first & 0x120) != 0 && dual(m, first, second);
        }

        private static boolean multiple(Machine m, int first, int list) {
            int mode = first >>> 7 & 3;
            boolean load = (first & 0x10) != 0;
            int base = first & 15;
            int size = 4 * Integer.bitCount(list);
            if (mode != 1 && mode != 2) {
                return false;
            }
            int start = m.get(base);
            NarrowInstructions.block(m, load, list, mode == 1 ? start : start - size);
            if ((first & 0x20) != 0) {
                m.set(base, mode == 1 ? start + size : start - size);
            }
            return true;
        }

        private static boolean dual(Machine m, int first, int second) {
            int base = first & 15;
            boolean load = (first & 0x10) != 0;
            int offset = (second & 0xff) * 4;
            int distance = (first & 0x80) != 0 ? offset : -offset;
            int start = base == Registers.PC ? m.literalBase() : m.get(base);
            int address = (first & 0x100) != 0 ? start + distance : start;
            transfer(m, load, false, second >>> 12, address, 4);
            transfer(m, load, false, second >>> 8 & 15, address + 4, 4);
            if ((first & 0x20) != 0) {
                m.set(base, start + distance);
            }
            return true;
        }

        private static boolean tableBranch(Machine m, int first, int second) {
            int base = m.get(first & 15);
            int index = m.get(second & 15);
            boolean halves = (second & 0x10) != 0;
            int entry = halves ? m.memory.read(base + index * 2, 2) : m.memory.read(base + index, 1);
            m.branch(m.get(Registers.PC) + entry * 2);
            return true;
        }
    }
}
