// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.address;

import io.kiln.base.elf.ElfFile;
import io.kiln.cycles.decode.Instruction;
import io.kiln.cycles.decode.MachineCode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What a block of code does to the registers that it addresses memory by: sums stay sums, everything else is a variable of its own. Variables
 * 0 to 31 are the registers before the first instruction; 32 to 63 are left to those behind the last.
 */
abstract class BlockValues {
    static final int REGISTERS = 32;
    static final int WORD = 4;

    private final ElfFile elf;
    private final Sum[] registers;
    private final List<Access> accesses = new ArrayList<>();
    private final Map<Integer, Sum> results = new HashMap<>();
    private int variables = 2 * REGISTERS;

    /**
     * A load or store.
     *
     * @param instruction its index in the block
     * @param isStore whether it writes
     * @param bytes that it reads or writes
     * @param address where
     * @param words the words that it reads or writes, by rising address; empty for smaller items and for what may not happen
     */
    record Access(int instruction, boolean isStore, int bytes, Sum address, List<Sum> words) {}

    /**
     * An access before its results are known.
     *
     * @param registers those that it loads or stores, by rising address; empty if they hold no words
     */
    record Pending(boolean isStore, int bytes, Sum address, List<Integer> registers) {}

    BlockValues(ElfFile elf, int count) {
        this.elf = elf;
        this.registers = new Sum[count];
        for (int i = 0; i < count; i++) {
            registers[i] = Sum.variable(i);
        }
    }

    /** The values behind a block of code for a Cortex-M or for RV32. */
    static BlockValues of(ElfFile elf, List<Instruction> block) {
        BlockValues values = MachineCode.isRiscV(elf) ? new Rv32Values(elf) : new ThumbValues(elf);
        for (int i = 0; i < block.size(); i++) {
            values.step(i, block.get(i));
        }
        return values;
    }

    /** The register that points at the stack. */
    abstract int stackPointer();

    /** Puts an instruction's sums in its results; returns what it reads or writes in memory. */
    abstract Optional<Pending> decode(Instruction instruction);

    /** Whether the instruction may not be executed. */
    abstract boolean isConditional();

    List<Access> accesses() {
        return accesses;
    }

    /** How many registers there are, without a program counter. */
    abstract int count();

    /** The value of a register, at the end that behind the last instruction. */
    Sum register(int number) {
        return registers[number];
    }

    private void step(int index, Instruction instruction) {
        results.clear();
        boolean isConditional = isConditional();
        Optional<Pending> access = decode(instruction);
        List<Sum> stored = access.map(one -> values(one.registers)).orElse(List.of());
        for (int register = 0; register < registers.length; register++) {
            boolean isKnown = results.containsKey(register);
            if (isKnown && !isConditional) {
                registers[register] = results.get(register);
            } else if (isKnown || (instruction.writes() >>> register & 1) != 0) {
                registers[register] = Sum.variable(variables++);
            }
        }
        access.ifPresent(one -> {
            List<Sum> words = one.isStore ? stored : values(one.registers);
            accesses.add(new Access(index, one.isStore, one.bytes, one.address, isConditional ? List.of() : words));
        });
    }

    private List<Sum> values(List<Integer> numbers) {
        return numbers.stream().map(number -> registers[number]).toList();
    }

    void put(int register, Sum value) {
        results.put(register, value);
    }

    int halfword(long address) {
        return elf.at(address, 2)
                .map(ByteBuffer::getShort)
                .map(Short::toUnsignedInt)
                .orElse(0);
    }

    Sum register(int number, int shift) {
        return Sum.ZERO.plus(registers[number], 1 << shift);
    }

    /** A load or store of one register. */
    Optional<Pending> single(boolean isLoad, int bytes, Sum address, int register) {
        if (isLoad && address.isConstant() && bytes == WORD) {
            elf.at(Integer.toUnsignedLong(address.constant()), WORD)
                    .map(ByteBuffer::getInt)
                    .ifPresent(value -> put(register, Sum.of(value)));
        }
        return Optional.of(new Pending(!isLoad, bytes, address, bytes == WORD ? List.of(register) : List.of()));
    }

    void product(int d, Sum one, Sum other, Sum addend, int sign) {
        if (one.isConstant()) {
            put(d, addend.plus(other, sign * one.constant()));
        } else if (other.isConstant()) {
            put(d, addend.plus(one, sign * other.constant()));
        }
    }

    /**
     * A constant and multiples of variables, of 32 bits.
     *
     * @param constant without variables
     * @param terms factors by variable; none is 0
     */
    record Sum(int constant, Map<Integer, Integer> terms) {
        static final Sum ZERO = of(0);

        static Sum of(int constant) {
            return new Sum(constant, Map.of());
        }

        static Sum variable(int number) {
            return new Sum(0, Map.of(number, 1));
        }

        Sum plus(int more) {
            return new Sum(constant + more, terms);
        }

        Sum plus(Sum other) {
            return plus(other, 1);
        }

        /** This sum and a multiple of another. */
        Sum plus(Sum other, int factor) {
            if (other.terms.isEmpty()) {
                return plus(other.constant * factor);
            }
            Map<Integer, Integer> all = new TreeMap<>(terms);
            other.terms.forEach((variable, times) -> all.merge(variable, times * factor, Integer::sum));
            all.values().removeIf(times -> times == 0);
            return new Sum(constant + other.constant * factor, all);
        }

        boolean isConstant() {
            return terms.isEmpty();
        }

        int factor(int variable) {
            return terms.getOrDefault(variable, 0);
        }

        /** This sum with another in place of a variable. */
        Sum replacing(int variable, Sum other) {
            int factor = factor(variable);
            return factor == 0 ? this : plus(variable(variable), -factor).plus(other, factor);
        }
    }
}
