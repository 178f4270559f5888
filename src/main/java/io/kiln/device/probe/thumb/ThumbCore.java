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
}
