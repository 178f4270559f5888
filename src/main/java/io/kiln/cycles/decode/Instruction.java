// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.decode;

/**
 * An instruction, as far as its timing needs it.
 *
 * @param address of its first byte
 * @param bytes 2 or 4
 * @param kind what it does
 * @param words how many 32-bit words it moves to or from memory if their number varies; 0 otherwise
 * @param registers those that it uses
 */
public record Instruction(long address, int bytes, InstructionKind kind, int words, Registers registers) {
    /**
     * Registers that an instruction uses. Sets of registers are masks: bits 0 to 31 are core registers, bits 32 to 63 floating-point
     * registers of 32 bits; a vector register of 128 bits has four of them. Register 0 of RISC-V and the program counter as a source are
     * left out.
     *
     * @param writes registers written
     * @param reads registers read, those of the address included
     * @param addresses registers that form an address
     * @param writesBack whether it changes an address's base register
     */
    public record Registers(long writes, long reads, long addresses, boolean writesBack) {
        static final Registers NONE = new Registers(0, 0, 0, false);

        /** A copy without the registers of a mask. */
        Registers without(long mask) {
            return new Registers(writes & ~mask, reads & ~mask, addresses & ~mask, writesBack);
        }
    }

    /** Registers written. */
    public long writes() {
        return registers.writes;
    }

    /** Registers read, those of the address included. */
    public long reads() {
        return registers.reads;
    }

    /** Registers that form an address. */
    public long addresses() {
        return registers.addresses;
    }

    /** Whether it changes an address's base register. */
    public boolean writesBack() {
        return registers.writesBack;
    }

    /** The address of the byte behind the instruction. */
    public long end() {
        return address + bytes;
    }
}
