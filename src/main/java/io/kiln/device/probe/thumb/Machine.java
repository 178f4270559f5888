// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

/** The state that instructions work on: registers, memory, and the next address. */
final class Machine {
    final Memory memory;
    final Registers registers = new Registers();
    private int address;
    private int next;
    private boolean itJustSet;

    Machine(Memory memory) {
        this.memory = memory;
    }

    void begin(int instruction, int length) {
        address = instruction;
        next = instruction + length;
        itJustSet = false;
    }

    void end() {
        registers.set(Registers.PC, next);
        if (!itJustSet && registers.itState != 0) {
            registers.itState =
                    (registers.itState & 7) == 0 ? 0 : (registers.itState & 0xe0) | (registers.itState << 1 & 0x1f);
        }
    }

    /** Whether the instruction is executed; always true outside of IT blocks. */
    boolean conditionHolds() {
        return !inItBlock() || registers.holds(registers.itState >>> 4);
    }

    boolean inItBlock() {
        return registers.itState != 0;
    }

    void startItBlock(int state) {
        registers.itState = state;
        itJustSet = true;
    }

    /** A register as an operand: the program counter reads as the instruction's address + 4. */
    int get(int register) {
        return register == Registers.PC ? address + 4 : registers.get(register);
    }

    /** The program counter as the base of literals: a multiple of 4. */
    int literalBase() {
        return address + 4 & ~3;
    }

    /** Sets a register; writing the program counter branches. */
    void set(int register, int value) {
        if (register == Registers.PC) {
            next = value & ~1;
        } else {
            registers.set(register, value);
        }
    }

    /** Continues at this address. */
    void branch(int target) {
        next = target & ~1;
    }

    /** Stores the address after this instruction, with the Thumb bit, in the link register. */
    void link() {
        registers.set(Registers.LR, next | 1);
    }

    /** a + b + carry; optionally sets all flags. Subtraction is a + ~b + 1. */
    int add(int a, int b, boolean carry, boolean setFlags) {
        long wide = (a & 0xffffffffL) + (b & 0xffffffffL) + (carry ? 1 : 0);
        int result = (int) wide;
        if (setFlags) {
            registers.setNegativeZero(result);
            registers.carry = wide >>> 32 != 0;
            registers.overflow = ((a ^ result) & (b ^ result)) < 0;
        }
        return result;
    }

    /** Sets the flags of a logical result. */
    int logical(int result, boolean carry, boolean setFlags) {
        if (setFlags) {
            registers.setNegativeZero(result);
            registers.carry = carry;
        }
        return result;
    }
}
