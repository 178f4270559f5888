// SPDX-License-Identifier: Apache-2.0
package io.kiln.base.elf;

import io.kiln.base.LazyList;
import io.kiln.base.elf.ElfFile.Section;
import io.kiln.base.elf.ElfFile.Symbol;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;

/** Symbols where a file has them; table and names were checked. */
final class ElfSymbols extends LazyList<Symbol> {
    private final ByteBuffer in;
    private final boolean isWide;
    private final int start;
    private final int names;
    private final int namesEnd;
    private final int count;

    /**
     * The symbols of a table.
     *
     * @param in the file, in its byte order
     * @param isWide whether it has 64 bits
     * @param start offset of the first symbol
     * @param names the table of strings
     * @param count how many symbols there are
     */
    ElfSymbols(ByteBuffer in, boolean isWide, int start, Section names, int count) {
        this.in = in;
        this.isWide = isWide;
        this.start = start;
        this.names = (int) names.offset();
        this.namesEnd = (int) (names.offset() + names.size());
        this.count = count;
    }

    static int bytes(boolean isWide) {
        return isWide ? 24 : 16;
    }

    @Override
    public Symbol get(int index) {
        int at = at(index);
        int info = info(at);
        return new Symbol(
                name(index),
                isWide ? in.getLong(at + 8) : in.getInt(at + 4) & 0xffffffffL,
                isWide ? in.getLong(at + 16) : in.getInt(at + 8) & 0xffffffffL,
                Symbol.type(info),
                section(at),
                Symbol.binding(info));
    }

    @Override
    public int size() {
        return count;
    }

    /** The first exported symbol whose name ends in a text. */
    Optional<Symbol> exportedEndingIn(String suffix) {
        byte[] end = suffix.getBytes(StandardCharsets.UTF_8);
        return IntStream.range(0, count)
                .filter(i -> isExported(at(i)) && endsIn(i, end))
                .mapToObj(this::get)
                .findFirst();
    }

    /** Names of the functions that are exported: sorted by their bytes, each once, without some. */
    List<String> exportedFunctions(Collection<String> without) {
        byte[][] excluded = without.stream()
                .map(name -> name.getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
        Integer[] found = IntStream.range(0, count)
                .filter(i -> isExported(at(i)) && Symbol.isFunction(Symbol.type(info(at(i)))))
                .filter(i -> !isOneOf(i, excluded))
                .boxed()
                .toArray(Integer[]::new);
        Arrays.sort(found, this::compareNames);
        int[] once = IntStream.range(0, found.length)
                .filter(i -> i == 0 || compareNames(found[i - 1], found[i]) != 0)
                .map(i -> found[i])
                .toArray();
        return new LazyList<>() {
            @Override
            public String get(int index) {
                return name(once[index]);
            }

            @Override
            public int size() {
                return once.length;
            }
        };
    }

    private int at(int index) {
        return start + Objects.checkIndex(index, count) * bytes(isWide);
    }

    private int info(int at) {
        return in.get(at + (isWide ? 4 : 12));
    }

    private int section(int at) {
        return in.getShort(at + (isWide ? 6 : 14)) & 0xffff;
    }

    private boolean isExported(int at) {
        return Symbol.isExported(section(at), Symbol.binding(info(at)));
    }

    private int nameAt(int index) {
        return names + in.getInt(at(index));
    }

    /** A byte of the table of strings; 0 behind it, because a table without content has an empty name. */
    private byte letter(int at) {
        return at < namesEnd ? in.get(at) : 0;
    }

    private int nameBytes(int index) {
        int from = nameAt(index);
        int end = from;
        while (letter(end) != 0) {
            end++;
        }
        return end - from;
    }

    private String name(int index) {
        byte[] bytes = new byte[nameBytes(index)];
        in.get(nameAt(index), bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private boolean endsIn(int index, byte[] end) {
        int from = nameAt(index) + nameBytes(index) - end.length;
        return from >= nameAt(index) && isAt(from, end);
    }

    private boolean isOneOf(int index, byte[][] names) {
        for (byte[] name : names) {
            if (isAt(nameAt(index), name) && letter(nameAt(index) + name.length) == 0) {
                return true;
            }
        }
        return false;
    }

    private boolean isAt(int from, byte[] text) {
        int i = 0;
        while (i < text.length && letter(from + i) == text[i]) {
            i++;
        }
        return i == text.length;
    }

    private int compareNames(int one, int other) {
        int a = nameAt(one);
        int b = nameAt(other);
        while (letter(a) != 0 && letter(a) == letter(b)) {
            a++;
            b++;
        }
        return Byte.compareUnsigned(letter(a), letter(b));
    }
}
