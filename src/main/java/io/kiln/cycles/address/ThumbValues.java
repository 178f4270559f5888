// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.address;

import io.kiln.base.elf.ElfFile;
import io.kiln.cycles.decode.Instruction;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * What Thumb code does to the registers that it addresses memory by (Arm v8-M Architecture Reference Manual, DDI 0553, C2): sums stay sums,
 * everything else is a variable of its own. Variables 0 to 15 are the registers before the first instruction; 16 to
 * 31 are left to those behind the last.
 */
final class ThumbValues {
    static final int REGISTERS = 16;
    private static final int PC = 15;
    private static final int SP = 13;
    private static final int WORD = 4;
    private static final int PIPELINE = 4;

    private final ElfFile elf;
    private final Sum[] registers = new Sum[REGISTERS];
    private final List<Access> accesses = new ArrayList<>();
    private final Map<Integer, Sum> results = new HashMap<>();
    private int variables = 2 * REGISTERS;
    private int conditional;
    private Instruction now;

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
    private record Pending(boolean isStore, int bytes, Sum address, List<Integer> registers) {}

    ThumbValues(ElfFile elf, List<Instruction> block) {
        this.elf = elf;
        Arrays.setAll(registers, Sum::variable);
        for (int i = 0; i < block.size(); i++) {
            now = block.get(i);
            step(i);
        }
    }

    List<Access> accesses() {
        return accesses;
    }

    /** The value of a register behind the last instruction. */
    Sum register(int number) {
        return registers[number];
    }

    private void step(int index) {
        results.clear();
        int first = halfword(now.address());
        Optional<Pending> access = now.bytes() == 2 ? narrow(first) : wide(first, halfword(now.address() + 2));
        List<Sum> stored = access.map(one -> values(one.registers)).orElse(List.of());
        for (int register = 0; register < REGISTERS; register++) {
            boolean isKnown = results.containsKey(register);
            if (isKnown && conditional == 0) {
                registers[register] = results.get(register);
            } else if (isKnown || (now.writes() >>> register & 1) != 0) {
                registers[register] = Sum.variable(variables++);
            }
        }
        access.ifPresent(one -> {
            List<Sum> words = one.isStore ? stored : values(one.registers);
            accesses.add(new Access(index, one.isStore, one.bytes, one.address, conditional > 0 ? List.of() : words));
        });
        // An IT instruction is followed by up to four that are executed on a condition.
        boolean isIt = now.bytes() == 2 && (first & 0xff00) == 0xbf00 && (first & 0xf) != 0;
        conditional = isIt ? PIPELINE - Integer.numberOfTrailingZeros(first & 0xf) : Math.max(0, conditional - 1);
    }

    private List<Sum> values(List<Integer> numbers) {
        return numbers.stream().map(number -> registers[number]).toList();
    }

    private int halfword(long address) {
        return elf.at(address, 2)
                .map(ByteBuffer::getShort)
                .map(Short::toUnsignedInt)
                .orElse(0);
    }

    private Sum register(int number, int shift) {
        return Sum.ZERO.plus(registers[number], 1 << shift);
    }

    private Sum programCounter() {
        return Sum.of((int) (now.address() + PIPELINE & -WORD));
    }

    private Sum base(int number) {
        return number == PC ? programCounter() : registers[number];
    }

    private Optional<Pending> load(int bytes, Sum address, int target) {
        if (address.isConstant() && bytes == WORD) {
            elf.at(Integer.toUnsignedLong(address.constant()), WORD)
                    .map(ByteBuffer::getInt)
                    .ifPresent(value -> results.put(target, Sum.of(value)));
        }
        return access(false, bytes, address, target);
    }

    private static Optional<Pending> access(boolean isStore, int bytes, Sum address, int register) {
        return Optional.of(new Pending(isStore, bytes, address, bytes == WORD ? List.of(register) : List.of()));
    }

    private Optional<Pending> single(boolean isLoad, int bytes, Sum address, int register) {
        return isLoad ? load(bytes, address, register) : access(true, bytes, address, register);
    }

    private static List<Integer> listed(int mask) {
        return IntStream.range(0, REGISTERS)
                .filter(register -> (mask >>> register & 1) != 0)
                .boxed()
                .toList();
    }

    /** Several words, by rising register; {@code up} is -1 for those below the base. */
    private Optional<Pending> multiple(boolean isStore, int base, int mask, int up, boolean writesBack) {
        int bytes = WORD * Integer.bitCount(mask);
        Sum first = up > 0 ? registers[base] : registers[base].plus(-bytes);
        boolean isLoaded = !isStore && (mask >>> base & 1) != 0;
        if (writesBack && !isLoaded) {
            results.put(base, registers[base].plus(up * bytes));
        }
        return Optional.of(new Pending(isStore, bytes, first, listed(mask)));
    }

    private Optional<Pending> narrow(int h) {
        int d = h & 7;
        int n = h >>> 3 & 7;
        int m = h >>> 6 & 7;
        int high = h >>> 8 & 7;
        int imm5 = h >>> 6 & 31;
        int imm8 = h & 255;
        switch (h >>> 11) {
            case 0b00000 -> results.put(d, register(n, imm5));
            case 0b00011 -> {
                Sum other = (h & 1 << 10) == 0 ? registers[m] : Sum.of(m);
                results.put(d, registers[n].plus(other, (h & 1 << 9) == 0 ? 1 : -1));
            }
            case 0b00100 -> results.put(high, Sum.of(imm8));
            case 0b00110 -> results.put(high, registers[high].plus(imm8));
            case 0b00111 -> results.put(high, registers[high].plus(-imm8));
            case 0b01000 -> arithmetic(h, d | h >>> 4 & 8, h >>> 3 & 15);
            case 0b10100 -> results.put(high, programCounter().plus(imm8 * WORD));
            case 0b10101 -> results.put(high, registers[SP].plus(imm8 * WORD));
            default -> {
                return narrowAccess(h, d, n, m);
            }
        }
        return Optional.empty();
    }

    private Optional<Pending> narrowAccess(int h, int d, int n, int m) {
        int high = h >>> 8 & 7;
        int imm5 = h >>> 6 & 31;
        int imm8 = h & 255;
        boolean isLoad = (h & 1 << 11) != 0;
        return switch (h >>> 11) {
            case 0b01001 -> load(WORD, programCounter().plus(imm8 * WORD), high);
            case 0b01010, 0b01011 -> {
                int operation = h >>> 9 & 7;
                int bytes = new int[] {WORD, 2, 1, 1, WORD, 2, 1, 2}[operation];
                yield single(operation > 2, bytes, registers[n].plus(registers[m]), d);
            }
            case 0b01100, 0b01101 -> single(isLoad, WORD, registers[n].plus(imm5 * WORD), d);
            case 0b01110, 0b01111 -> single(isLoad, 1, registers[n].plus(imm5), d);
            case 0b10000, 0b10001 -> single(isLoad, 2, registers[n].plus(imm5 * 2), d);
            case 0b10010, 0b10011 -> single(isLoad, WORD, registers[SP].plus(imm8 * WORD), high);
            case 0b10110, 0b10111 -> stack(h, isLoad);
            case 0b11000, 0b11001 -> multiple(!isLoad, high, imm8, 1, true);
            default -> Optional.empty();
        };
    }

    private void arithmetic(int h, int d, int m) {
        if ((h & 0xff00) == 0x4400) {
            results.put(d, registers[d].plus(base(m)));
        } else if ((h & 0xff00) == 0x4600) {
            results.put(d, base(m));
        } else if ((h & 0xffc0) == 0x4240) {
            results.put(h & 7, Sum.ZERO.plus(registers[h >>> 3 & 7], -1));
        } else if ((h & 0xffc0) == 0x4340) {
            product(h & 7, registers[h & 7], registers[h >>> 3 & 7], Sum.ZERO, 1);
        }
    }

    private Optional<Pending> stack(int h, boolean isLoad) {
        if ((h & 0xff00) == 0xb000) {
            results.put(SP, registers[SP].plus(WORD * (h & 127) * ((h & 128) == 0 ? 1 : -1)));
            return Optional.empty();
        }
        int extra = (h & 256) == 0 ? 0 : 1 << (isLoad ? PC : PC - 1);
        return (h & 0x0600) == 0x0400
                ? multiple(!isLoad, SP, h & 255 | extra, isLoad ? 1 : -1, true)
                : Optional.empty();
    }

    private void product(int d, Sum one, Sum other, Sum addend, int sign) {
        if (one.isConstant()) {
            results.put(d, addend.plus(other, sign * one.constant()));
        } else if (other.isConstant()) {
            results.put(d, addend.plus(one, sign * other.constant()));
        }
    }

    private Optional<Pending> wide(int h, int l) {
        int n = h & 15;
        int m = l & 15;
        int d = l >>> 8 & 15;
        if ((h & 0xfe40) == 0xe800) {
            return multiple((h & 16) == 0, n, l, (h & 128) != 0 ? 1 : -1, (h & 32) != 0);
        }
        if ((h & 0xfe40) == 0xe840) {
            return pair(h, l);
        }
        if ((h & 0xfe00) == 0xec00) {
            return floats(h, l);
        }
        if ((h & 0xfe00) == 0xf800) {
            return single(h, l);
        }
        if ((h & 0xfe00) == 0xea00) {
            int shift = l >>> 10 & 28 | l >>> 6 & 3;
            if ((l & 0x30) == 0) {
                combine(h >>> 5 & 15, d, n, register(m, shift));
            }
        } else if ((h & 0xfa00) == 0xf000 && (l & 0x8000) == 0) {
            combine(h >>> 5 & 15, d, n, Sum.of(expanded(h >>> 10 & 1, l)));
        } else if ((h & 0xfa00) == 0xf200 && (l & 0x8000) == 0) {
            plain(h >>> 4 & 31, d, n, (h >>> 10 & 1) << 11 | l >>> 4 & 0x700 | l & 255);
        } else if ((h & 0xfff0) == 0xfb00 && (l & 0xe0) == 0) {
            int a = l >>> 12;
            boolean isMultiply = a == PC;
            product(d, registers[n], registers[m], isMultiply ? Sum.ZERO : registers[a], (l & 16) == 0 ? 1 : -1);
        }
        return Optional.empty();
    }

    /** Loads and stores of two words, exclusive ones, and branches by a table. */
    private Optional<Pending> pair(int h, int l) {
        int n = h & 15;
        boolean isIndexed = (h & 0x100) != 0;
        if (!isIndexed && (h & 0x20) == 0) {
            boolean isTable = (h & 0xfff0) == 0xe8d0 && (l & 0xffe0) == 0xf000;
            int twice = l >>> 4 & 1;
            Sum table = n == PC ? Sum.of((int) now.address() + PIPELINE) : registers[n];
            return isTable
                    ? Optional.of(new Pending(false, 1 << twice, table.plus(register(l & 15, twice)), List.of()))
                    : Optional.empty();
        }
        int offset = WORD * (l & 255) * ((h & 128) != 0 ? 1 : -1);
        Sum there = base(n).plus(offset);
        if ((h & 0x20) != 0) {
            results.put(n, there);
        }
        boolean isStore = (h & 16) == 0;
        return Optional.of(
                new Pending(isStore, 2 * WORD, isIndexed ? there : base(n), List.of(l >>> 12, l >>> 8 & 15)));
    }

    private Optional<Pending> floats(int h, int l) {
        int n = h & 15;
        boolean isFloat = (l & 0xe00) == 0xa00;
        boolean isIndexed = (h & 0x100) != 0;
        boolean writesBack = (h & 0x20) != 0;
        int up = (h & 128) != 0 ? 1 : -1;
        boolean isTransfer = !isIndexed && up < 0 && !writesBack;
        if (!isFloat || isTransfer) {
            return Optional.empty();
        }
        int offset = WORD * (l & 255);
        boolean isOne = isIndexed && !writesBack;
        Sum there = base(n).plus(up * offset);
        if (writesBack) {
            results.put(n, there);
        }
        int bytes = isOne ? (l & 0x100) == 0 ? WORD : 2 * WORD : offset;
        return Optional.of(new Pending((h & 16) == 0, bytes, isOne || up < 0 ? there : base(n), List.of()));
    }

    private Optional<Pending> single(int h, int l) {
        int n = h & 15;
        int target = l >>> 12;
        int bytes = 1 << (h >>> 5 & 3);
        boolean isLoad = (h & 16) != 0;
        boolean isHint = isLoad && target == PC && bytes != WORD;
        Sum address;
        if (n == PC) {
            address = programCounter().plus((l & 0xfff) * ((h & 128) != 0 ? 1 : -1));
        } else if ((h & 128) != 0) {
            address = registers[n].plus(l & 0xfff);
        } else if ((l & 0x800) != 0) {
            Sum there = registers[n].plus((l & 255) * ((l & 0x200) != 0 ? 1 : -1));
            address = (l & 0x400) != 0 ? there : registers[n];
            if ((l & 0x100) != 0) {
                results.put(n, there);
            }
        } else {
            address = registers[n].plus(register(l & 15, l >>> 4 & 3));
        }
        return isHint ? Optional.empty() : single(isLoad, bytes, address, target);
    }

    /** Arithmetic of a register and another value. */
    private void combine(int operation, int d, int n, Sum other) {
        if (d == PC) {
            return;
        }
        switch (operation) {
            case 0b0010 -> {
                if (n == PC) {
                    results.put(d, other);
                }
            }
            case 0b1000 -> results.put(d, registers[n].plus(other));
            case 0b1101 -> results.put(d, registers[n].plus(other, -1));
            case 0b1110 -> results.put(d, other.plus(registers[n], -1));
            default -> {}
        }
    }

    /** Arithmetic with a constant as it stands. */
    private void plain(int operation, int d, int n, int imm12) {
        switch (operation) {
            case 0b00000 -> results.put(d, base(n).plus(imm12));
            case 0b01010 -> results.put(d, base(n).plus(-imm12));
            case 0b00100 -> results.put(d, Sum.of(n << 12 | imm12));
            case 0b01100 -> {
                if (registers[d].isConstant()) {
                    results.put(d, Sum.of((n << 12 | imm12) << 16 | registers[d].constant() & 0xffff));
                }
            }
            default -> {}
        }
    }

    /** A constant of an instruction: repeated bytes, or eight bits rotated. */
    private static int expanded(int i, int l) {
        int pattern = i << 3 | l >>> 12 & 7;
        int byteOf = l & 255;
        return switch (pattern) {
            case 0 -> byteOf;
            case 1 -> byteOf << 16 | byteOf;
            case 2 -> byteOf << 24 | byteOf << 8;
            case 3 -> byteOf * 0x01010101;
            default -> Integer.rotateRight(byteOf & 127 | 128, pattern << 1 | byteOf >>> 7);
        };
    }
}
