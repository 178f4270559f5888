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
}
