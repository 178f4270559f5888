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
            case 0, 1, 2, 3 -> NarrowArithmetic.immediate(machine, code);
            case 4 ->
                code >>> 11 == 9
                        ? NarrowTransfers.literal(machine, code)
                        : code >>> 10 == 16
                                ? NarrowArithmetic.register(machine, code)
                                : NarrowMiscellaneous.highRegister(machine, code);
            case 5, 6, 7, 8, 9 -> NarrowTransfers.single(machine, code);
            case 10 -> NarrowMiscellaneous.address(machine, code);
            case 11 -> NarrowMiscellaneous.execute(machine, code);
            case 12 -> NarrowTransfers.multiple(machine, code);
            default -> Branches.narrow(machine, code);
        };
    }

    private boolean wide(int first, int second) {
        return switch (first >>> 9 & 15) {
            case 4 -> WideTransfers.multipleOrDual(machine, first, second);
            case 5 -> WideArithmetic.shiftedRegister(machine, first, second);
            case 8, 10 ->
                second >>> 15 == 1
                        ? Branches.wide(machine, first, second)
                        : WideArithmetic.modifiedImmediate(machine, first, second);
            case 9, 11 ->
                second >>> 15 == 1
                        ? Branches.wide(machine, first, second)
                        : WideImmediates.execute(machine, first, second);
            case 12 -> WideTransfers.single(machine, first, second);
            case 13 -> WideRegisters.execute(machine, first, second);
            default -> false;
        };
    }

    /** 32-bit instructions with a plain immediate: ADDW, SUBW, ADR, MOVW, MOVT and bit fields. */
    private static final class WideImmediates {
        private WideImmediates() {}

        static boolean execute(Machine m, int first, int second) {
            int target = second >>> 8 & 15;
            int source = first & 15;
            int immediate = WideArithmetic.immediate12(first, second);
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
    }
}
