// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.address;

import io.kiln.base.elf.ElfFile;
import io.kiln.cycles.address.BlockValues.Sum;
import io.kiln.cycles.decode.Instruction;
import java.util.Optional;

/** What RV32IMC code does to registers (RISC-V Instruction Set Manual, volume I, chapters 2, 7 and 16). */
final class Rv32Values extends BlockValues {
    private static final int SP = 2;
    private static final int FIRST_SHORT = 8;

    Rv32Values(ElfFile elf) {
        super(elf, REGISTERS);
    }

    @Override
    int stackPointer() {
        return SP;
    }

    @Override
    int count() {
        return REGISTERS;
    }

    @Override
    boolean isConditional() {
        return false;
    }

    @Override
    Optional<Pending> decode(Instruction now) {
        int first = halfword(now.address());
        return now.bytes() == 2
                ? compressed(first)
                : whole(first | halfword(now.address() + 2) << Short.SIZE, (int) now.address());
    }

    private Sum value(int register) {
        return register == 0 ? Sum.ZERO : register(register);
    }

    private void set(int register, Sum value) {
        if (register != 0) {
            put(register, value);
        }
    }

    private Optional<Pending> whole(int x, int address) {
        int d = x >>> 7 & 31;
        int operation = x >>> 12 & 7;
        int n = x >>> 15 & 31;
        int m = x >>> 20 & 31;
        int constant = x >> 20;
        int bytes = 1 << (operation & 3);
        switch (x & 0x7f) {
            case 0x37 -> set(d, Sum.of(x & 0xfffff000));
            case 0x17 -> set(d, Sum.of(address + (x & 0xfffff000)));
            case 0x13 -> {
                if (operation == 0) {
                    set(d, value(n).plus(constant));
                } else if (operation == 1) {
                    set(d, Sum.ZERO.plus(value(n), 1 << m));
                }
            }
            case 0x33 -> arithmetic(x >>> 25, operation, d, value(n), value(m));
            case 0x03 -> {
                return single(true, bytes, value(n).plus(constant), d);
            }
            case 0x23 -> {
                return single(false, bytes, value(n).plus(x >> 25 << 5 | d), m);
            }
            default -> {}
        }
        return Optional.empty();
    }

    private void arithmetic(int function, int operation, int d, Sum one, Sum other) {
        if (operation == 0 && function == 0) {
            set(d, one.plus(other));
        } else if (operation == 0 && function == 0x20) {
            set(d, one.plus(other, -1));
        } else if (operation == 0 && function == 1 && d != 0) {
            product(d, one, other, Sum.ZERO, 1);
        }
    }

    private Optional<Pending> compressed(int h) {
        int d = h >>> 7 & 31;
        int m = h >>> 2 & 31;
        int shortD = (h >>> 2 & 7) + FIRST_SHORT;
        int shortN = (h >>> 7 & 7) + FIRST_SHORT;
        int constant = (h >>> 2 & 31) - ((h & 1 << 12) == 0 ? 0 : 32);
        int word = (h >>> 7 & 0x38) | (h >>> 4 & 4) | (h << 1 & 0x40);
        switch ((h & 3) << 3 | h >>> 13) {
            case 0b00_000 ->
                set(shortD, value(SP).plus((h >>> 7 & 0x30) | (h >>> 1 & 0x3c0) | (h >>> 4 & 4) | (h >>> 2 & 8)));
            case 0b00_010 -> {
                return single(true, WORD, value(shortN).plus(word), shortD);
            }
            case 0b00_110 -> {
                return single(false, WORD, value(shortN).plus(word), shortD);
            }
            case 0b01_000 -> set(d, value(d).plus(constant));
            case 0b01_010 -> set(d, Sum.of(constant));
            case 0b01_011 -> set(d, d == SP ? value(SP).plus(stackStep(h)) : Sum.of(constant << 12));
            case 0b01_100 -> {
                if ((h & 0x1c60) == 0x0c00) {
                    set(shortN, value(shortN).plus(value(shortD), -1));
                }
            }
            case 0b10_000 -> set(d, Sum.ZERO.plus(value(d), 1 << m));
            case 0b10_010 -> {
                return single(true, WORD, value(SP).plus((h >>> 7 & 0x20) | (h >>> 2 & 0x1c) | (h << 4 & 0xc0)), d);
            }
            case 0b10_100 -> {
                if (m != 0) {
                    set(d, (h & 1 << 12) == 0 ? value(m) : value(d).plus(value(m)));
                }
            }
            case 0b10_110 -> {
                return single(false, WORD, value(SP).plus((h >>> 7 & 0x3c) | (h >>> 1 & 0xc0)), m);
            }
            default -> {}
        }
        return Optional.empty();
    }

    private static int stackStep(int h) {
        int bits = (h >>> 3 & 0x200) | (h >>> 2 & 0x10) | (h << 1 & 0x40) | (h << 4 & 0x180) | (h << 3 & 0x20);
        return bits - ((bits & 0x200) == 0 ? 0 : 0x400);
    }
}
