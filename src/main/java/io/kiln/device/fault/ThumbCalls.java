// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.fault;

import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Finds who called whom on the stack of a Cortex-M, from the words on it. A return address lies behind a call, whose target the
 * instruction says (Armv7-M Architecture Reference Manual, A7.7.18 BL, A7.7.19 BLX): the next return address further down must lie
 * in that function. So what is left on the stack of earlier calls is passed over.
 */
final class ThumbCalls {
    private static final int BL_BYTES = 4;
    private static final int BLX_BYTES = 2;
    private static final int SP = 13;

    /** Bytes of a function in which its frame is made, and in which calls are looked for. */
    private static final int PROLOGUE = 40;

    private static final int MOST_CODE = 1 << 16;

    private final ElfFile elf;
    private final List<Symbol> functions;

    private ThumbCalls(ElfFile elf) {
        this.elf = elf;
        this.functions = elf.symbols().stream().filter(Symbol::isFunction).toList();
    }

    /**
     * A function that overflowed the stack.
     *
     * @param address its first instruction, or a place in it
     * @param isCaller whether it may be a function that this one called instead, which left no word on the stack
     */
    record Place(long address, boolean isCaller) {}

    /**
     * The innermost function that the words tell. A function that calls no others leaves no return address: it is found as the one function
     * that the innermost one calls, and whose frame is as large as it must be.
     *
     * @param words of a stack, from its top down
     * @param excess bytes by which the stack overflowed; not positive if that is not known
     * @return empty if no word is a return address
     */
    static Optional<Place> innermost(ElfFile elf, List<Long> words, long excess) {
        ThumbCalls calls = new ThumbCalls(elf);
        return calls.last(words).map(address -> calls.overflowing(address, excess));
    }

    private Optional<Long> last(List<Long> words) {
        Optional<Long> innermost = Optional.empty();
        Optional<Symbol> expected = Optional.empty();
        for (long word : words) {
            long back = word & ~1L;
            Optional<Symbol> in = function(back - 1);
            if (in.isEmpty() || !isCall(back) || (expected.isPresent() && !expected.equals(in))) {
                continue;
            }
            OptionalLong target = target(back);
            expected = target.isPresent() ? function(target.getAsLong()) : Optional.empty();
            innermost = Optional.of(expected.map(symbol -> symbol.value() & ~1L).orElse(back - 1));
        }
        return innermost;
    }

    private Place overflowing(long address, long excess) {
        Symbol innermost = function(address).orElseThrow();
        if (excess <= 0) {
            return new Place(address, true);
        }
        if (frame(innermost) >= excess) {
            return new Place(address, false);
        }
        List<Symbol> called = called(innermost).stream()
                .filter(function -> frame(function) >= excess)
                .toList();
        return called.size() == 1 ? new Place(called.get(0).value() & ~1L, false) : new Place(address, true);
    }

    /** The functions that a function calls by their names. */
    private Set<Symbol> called(Symbol function) {
        long start = function.value() & ~1L;
        Set<Symbol> called = new LinkedHashSet<>();
        for (long at = start; at < start + Math.min(function.size(), MOST_CODE); at += isWide(at) ? 4 : 2) {
            target(at + BL_BYTES).stream()
                    .mapToObj(this::function)
                    .flatMap(Optional::stream)
                    .forEach(called::add);
        }
        return called;
    }

    /** Bytes by which a function's first instructions lower the stack pointer: SUB (SP minus immediate), A7.7.176; more if that is computed. */
    private long frame(Symbol function) {
        long start = function.value() & ~1L;
        long bytes = 0;
        for (long at = start; at < start + Math.min(function.size(), PROLOGUE); at += isWide(at) ? 4 : 2) {
            int high = halfword(at);
            int low = halfword(at + 2);
            int immediate = (high >> 10 & 1) << 11 | (low >> 12 & 7) << 8 | (low & 0xff);
            boolean isOnSp = (low >> 8 & 15) == SP;
            if ((high & 0xff80) == 0xb080) {
                bytes += (high & 0x7fL) << 2;
            } else if ((high & 0xfbef) == 0xf1ad && isOnSp) {
                bytes += expanded(immediate);
            } else if ((high & 0xfbff) == 0xf2ad && isOnSp) {
                bytes += immediate;
            } else if (((high & 0xffef) == 0xebad && isOnSp) || (high & 0xff87) == 0x4485) {
                return Long.MAX_VALUE;
            }
        }
        return bytes;
    }

    /** The value of a modified immediate constant (A5.3.2). */
    private static long expanded(int immediate) {
        int low = immediate & 0xff;
        if (immediate >> 10 != 0) {
            return Integer.toUnsignedLong(Integer.rotateRight(0x80 | (low & 0x7f), immediate >> 7));
        }
        return switch (immediate >> 8) {
            case 0 -> low;
            case 1 -> low << 16 | low;
            case 2 -> Integer.toUnsignedLong(low << 24 | low << 8);
            default -> Integer.toUnsignedLong(low * 0x01010101);
        };
    }

    private boolean isWide(long address) {
        return halfword(address) >= 0xe800;
    }

    private boolean isCall(long back) {
        return target(back).isPresent() || (halfword(back - BLX_BYTES) & 0xff87) == 0x4780;
    }

    /** The target of the BL before an address. */
    private OptionalLong target(long back) {
        int high = halfword(back - BL_BYTES);
        int low = halfword(back - BL_BYTES + 2);
        if ((high & 0xf800) != 0xf000 || (low & 0xd000) != 0xd000) {
            return OptionalLong.empty();
        }
        int sign = high >> 10 & 1;
        int i1 = 1 ^ (low >> 13 & 1) ^ sign;
        int i2 = 1 ^ (low >> 11 & 1) ^ sign;
        int offset = -sign << 24 | i1 << 23 | i2 << 22 | (high & 0x3ff) << 12 | (low & 0x7ff) << 1;
        return OptionalLong.of(back + offset);
    }

    /** Two bytes of code; 0 where the file has none. */
    private int halfword(long address) {
        Optional<ByteBuffer> bytes = elf.at(address, 2);
        return bytes.isPresent() ? bytes.get().order(ByteOrder.LITTLE_ENDIAN).getShort(0) & 0xffff : 0;
    }

    private Optional<Symbol> function(long address) {
        return functions.stream()
                .filter(symbol -> address >= (symbol.value() & ~1L) && address < (symbol.value() & ~1L) + symbol.size())
                .findFirst();
    }
}
