// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.decode;

import io.kiln.base.elf.ElfFile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The instructions of an image, decoded where they are asked for. */
public final class MachineCode {
    private static final int EM_RISCV = 243;
    private static final int HALFWORD = 2;

    private final ElfFile elf;
    private final InstructionSet set;

    private MachineCode(ElfFile elf, InstructionSet set) {
        this.elf = elf;
        this.set = set;
    }

    /** Code of an image for a Cortex-M or for RV32. */
    public static MachineCode of(ElfFile elf) {
        return new MachineCode(elf, isRiscV(elf) ? InstructionSet.rv32() : InstructionSet.thumb());
    }

    /** Whether an image is for RISC-V; it is for a Cortex-M otherwise. */
    public static boolean isRiscV(ElfFile elf) {
        return elf.machine() == EM_RISCV;
    }

    /**
     * Consecutive instructions.
     *
     * @param start address of the first
     * @param count how many; fewer are returned where the image has no code
     */
    public List<Instruction> from(long start, int count) {
        List<Instruction> instructions = new ArrayList<>();
        long address = start;
        while (instructions.size() < count) {
            Optional<Instruction> next = at(address);
            if (next.isEmpty()) {
                break;
            }
            instructions.add(next.get());
            address = next.get().end();
        }
        return instructions;
    }

    /**
     * The instructions from an address to another one.
     *
     * @param end address behind the last
     */
    public List<Instruction> between(long start, long end) {
        List<Instruction> instructions = new ArrayList<>();
        Optional<Instruction> next = at(start);
        while (next.isPresent() && next.get().end() <= end) {
            instructions.add(next.get());
            next = at(next.get().end());
        }
        return instructions;
    }

    private Optional<Instruction> at(long address) {
        Optional<Integer> first = halfword(address);
        if (first.isEmpty()) {
            return Optional.empty();
        }
        if (!set.isWide(first.get())) {
            return Optional.of(set.narrow(address, first.get()));
        }
        return halfword(address + HALFWORD).map(second -> set.wide(address, first.get(), second));
    }

    private Optional<Integer> halfword(long address) {
        return elf.at(address, HALFWORD).map(ByteBuffer::getShort).map(Short::toUnsignedInt);
    }
}
