// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.address;

import io.kiln.base.elf.ElfFile;
import io.kiln.cycles.address.BlockValues.Sum;
import io.kiln.cycles.decode.Instruction;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** What Thumb code does to registers (Arm v8-M Architecture Reference Manual, DDI 0553, C2). */
final class ThumbValues extends BlockValues {
    private static final int PC = 15;
    private static final int SP = 13;
    private static final int PIPELINE = 4;

    private int conditional;
    private Instruction now;

    ThumbValues(ElfFile elf) {
        super(elf, PC + 1);
    }

    @Override
    int stackPointer() {
        return SP;
    }

    @Override
    int count() {
        return PC;
    }

    @Override
    boolean isConditional() {
        return conditional > 0;
    }

    @Override
    Optional<Pending> decode(Instruction instruction) {
        now = instruction;
        int first = halfword(now.address());
        // An IT instruction is followed by up to four that are executed on a condition.
        boolean isIt = now.bytes() == 2 && (first & 0xff00) == 0xbf00 && (first & 0xf) != 0;
        conditional = isIt ? PIPELINE - Integer.numberOfTrailingZeros(first & 0xf) : Math.max(0, conditional - 1);
        return now.bytes() == 2 ? narrow(first) : wide(first, halfword(now.address() + 2));
    }

    private Sum programCounter() {
        return Sum.of((int) (now.address() + PIPELINE & -WORD));
    }

    private Sum base(int number) {
        return number == PC ? programCounter() : register(number);
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
        Sum first = up > 0 ? register(base) : register(base).plus(-bytes);
        boolean isLoaded = !isStore && (mask >>> base & 1) != 0;
        if (writesBack && !isLoaded) {
            put(base, register(base).plus(up * bytes));
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
            case 0b00000 -> put(d, register(n, imm5));
            case 0b00011 -> {
                Sum other = (h & 1 << 10) == 0 ? register(m) : Sum.of(m);
                put(d, register(n).plus(other, (h & 1 << 9) == 0 ? 1 : -1));
            }
            case 0b00100 -> put(high, Sum.of(imm8));
            case 0b00110 -> put(high, register(high).plus(imm8));
            case 0b00111 -> put(high, register(high).plus(-imm8));
            case 0b01000 -> arithmetic(h, d | (h >>> 4 & 8), h >>> 3 & 15);
            case 0b10100 -> put(high, programCounter().plus(imm8 * WORD));
            case 0b10101 -> put(high, register(SP).plus(imm8 * WORD));
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
            case 0b01001 -> single(true, WORD, programCounter().plus(imm8 * WORD), high);
            case 0b01010, 0b01011 -> {
                int operation = h >>> 9 & 7;
                int bytes = new int[] {WORD, 2, 1, 1, WORD, 2, 1, 2}[operation];
                yield single(operation > 2, bytes, register(n).plus(register(m)), d);
            }
            case 0b01100, 0b01101 -> single(isLoad, WORD, register(n).plus(imm5 * WORD), d);
            case 0b01110, 0b01111 -> single(isLoad, 1, register(n).plus(imm5), d);
            case 0b10000, 0b10001 -> single(isLoad, 2, register(n).plus(imm5 * 2), d);
            case 0b10010, 0b10011 -> single(isLoad, WORD, register(SP).plus(imm8 * WORD), high);
            case 0b10110, 0b10111 -> stack(h, isLoad);
            case 0b11000, 0b11001 -> multiple(!isLoad, high, imm8, 1, true);
            default -> Optional.empty();
        };
    }

    private void arithmetic(int h, int d, int m) {
        if ((h & 0xff00) == 0x4400) {
            put(d, register(d).plus(base(m)));
        } else if ((h & 0xff00) == 0x4600) {
            put(d, base(m));
        } else if ((h & 0xffc0) == 0x4240) {
            put(h & 7, Sum.ZERO.plus(register(h >>> 3 & 7), -1));
        } else if ((h & 0xffc0) == 0x4340) {
            product(h & 7, register(h & 7), register(h >>> 3 & 7), Sum.ZERO, 1);
        }
    }

    private Optional<Pending> stack(int h, boolean isLoad) {
        if ((h & 0xff00) == 0xb000) {
            put(SP, register(SP).plus(WORD * (h & 127) * ((h & 128) == 0 ? 1 : -1)));
            return Optional.empty();
        }
        int extra = (h & 256) == 0 ? 0 : 1 << (isLoad ? PC : PC - 1);
        return (h & 0x0600) == 0x0400
                ? multiple(!isLoad, SP, (h & 255) | extra, isLoad ? 1 : -1, true)
                : Optional.empty();
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
            int shift = (l >>> 10 & 28) | (l >>> 6 & 3);
            if ((l & 0x30) == 0) {
                combine(h >>> 5 & 15, d, n, register(m, shift));
            }
        } else if ((h & 0xfa00) == 0xf000 && (l & 0x8000) == 0) {
            combine(h >>> 5 & 15, d, n, Sum.of(expanded(h >>> 10 & 1, l)));
        } else if ((h & 0xfa00) == 0xf200 && (l & 0x8000) == 0) {
            plain(h >>> 4 & 31, d, n, (h >>> 10 & 1) << 11 | (l >>> 4 & 0x700) | (l & 255));
        } else if ((h & 0xfff0) == 0xfb00 && (l & 0xe0) == 0) {
            int a = l >>> 12;
            boolean isMultiply = a == PC;
            product(d, register(n), register(m), isMultiply ? Sum.ZERO : register(a), (l & 16) == 0 ? 1 : -1);
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
            Sum table = n == PC ? Sum.of((int) now.address() + PIPELINE) : register(n);
            return isTable
                    ? Optional.of(new Pending(false, 1 << twice, table.plus(register(l & 15, twice)), List.of()))
                    : Optional.empty();
        }
        int offset = WORD * (l & 255) * ((h & 128) != 0 ? 1 : -1);
        Sum there = base(n).plus(offset);
        if ((h & 0x20) != 0) {
            put(n, there);
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
            put(n, there);
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
            address = register(n).plus(l & 0xfff);
        } else if ((l & 0x800) != 0) {
            Sum there = register(n).plus((l & 255) * ((l & 0x200) != 0 ? 1 : -1));
            address = (l & 0x400) != 0 ? there : register(n);
            if ((l & 0x100) != 0) {
                put(n, there);
            }
        } else {
            address = register(n).plus(register(l & 15, l >>> 4 & 3));
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
                    put(d, other);
                }
            }
            case 0b1000 -> put(d, register(n).plus(other));
            case 0b1101 -> put(d, register(n).plus(other, -1));
            case 0b1110 -> put(d, other.plus(register(n), -1));
            default -> {}
        }
    }

    /** Arithmetic with a constant as it stands. */
    private void plain(int operation, int d, int n, int imm12) {
        switch (operation) {
            case 0b00000 -> put(d, base(n).plus(imm12));
            case 0b01010 -> put(d, base(n).plus(-imm12));
            case 0b00100 -> put(d, Sum.of(n << 12 | imm12));
            case 0b01100 -> {
                if (register(d).isConstant()) {
                    put(d, Sum.of((n << 12 | imm12) << 16 | (register(d).constant() & 0xffff)));
                }
            }
            default -> {}
        }
    }

    /** A constant of an instruction: repeated bytes, or eight bits rotated. */
    private static int expanded(int i, int l) {
        int pattern = i << 3 | (l >>> 12 & 7);
        int byteOf = l & 255;
        return switch (pattern) {
            case 0 -> byteOf;
            case 1 -> byteOf << 16 | byteOf;
            case 2 -> byteOf << 24 | byteOf << 8;
            case 3 -> byteOf * 0x01010101;
            default -> Integer.rotateRight((byteOf & 127) | 128, pattern << 1 | byteOf >>> 7);
        };
    }
}
