// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.firmware.ElfFile.Section;
import io.kiln.firmware.ElfFile.Segment;
import io.kiln.firmware.ElfFile.Symbol;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Reads the tables; every access is bounds-checked by the buffer. */
final class ElfReader {
    private static final int SYMTAB = 2;
    private static final int MAX_SYMBOLS = 10_000_000;

    private final ByteBuffer in;
    private final boolean wide;

    ElfReader(ByteBuffer in) {
        this.in = in;
        if (in.getInt(0) != 0x7f454c46) {
            throw new IllegalArgumentException("no ELF magic");
        }
        this.wide = in.get(4) == 2;
        in.order(in.get(5) == 2 ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
    }

    ElfFile read() {
        long entry = word(24, 24);
        List<Segment> segments = new ArrayList<>();
        for (int i = 0; i < half(44, 56); i++) {
            segments.add(segment(index(word(28, 32)) + i * half(42, 54)));
        }
        int table = index(word(32, 40));
        int size = half(46, 58);
        int count = half(48, 60);
        int names = count == 0 ? 0 : index(word(table + half(50, 62) * size, 16, 24));
        List<Section> sections = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            sections.add(section(table + i * size, names));
        }
        return new ElfFile(in, in.getShort(18) & 0xffff, entry, sections, segments, symbols(sections));
    }

    private Segment segment(int at) {
        return wide
                ? new Segment(
                        in.getInt(at),
                        in.getLong(at + 8),
                        in.getLong(at + 16),
                        in.getLong(at + 24),
                        in.getLong(at + 32),
                        in.getLong(at + 40))
                : new Segment(
                        in.getInt(at),
                        unsigned(at + 4),
                        unsigned(at + 8),
                        unsigned(at + 12),
                        unsigned(at + 16),
                        unsigned(at + 20));
    }

    private Section section(int at, int names) {
        return new Section(
                text(Math.addExact(names, in.getInt(at))),
                in.getInt(at + 4),
                word(at, 8, 8),
                word(at, 12, 16),
                word(at, 16, 24),
                word(at, 20, 32),
                in.getInt(at + (wide ? 40 : 24)));
    }

    private List<Symbol> symbols(List<Section> sections) {
        List<Symbol> symbols = new ArrayList<>();
        for (Section section : sections) {
            if (section.type() == SYMTAB) {
                int names = index(sections.get(section.link()).offset());
                int step = wide ? 24 : 16;
                int count = (int) Math.min(MAX_SYMBOLS, section.size() / step);
                for (int i = 0; i < count; i++) {
                    symbols.add(symbol(index(section.offset()) + i * step, names));
                }
            }
        }
        return symbols;
    }

    private Symbol symbol(int at, int names) {
        String name = text(Math.addExact(names, in.getInt(at)));
        return wide
                ? new Symbol(
                        name,
                        in.getLong(at + 8),
                        in.getLong(at + 16),
                        in.get(at + 4) & 15,
                        in.getShort(at + 6) & 0xffff)
                : new Symbol(
                        name, unsigned(at + 4), unsigned(at + 8), in.get(at + 12) & 15, in.getShort(at + 14) & 0xffff);
    }

    private String text(int at) {
        int end = at;
        while (in.get(end) != 0) {
            end++;
        }
        byte[] bytes = new byte[end - at];
        in.get(at, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private long word(int narrowAt, int wideAt) {
        return word(0, narrowAt, wideAt);
    }

    private long word(int base, int narrowAt, int wideAt) {
        return wide ? in.getLong(base + wideAt) : unsigned(base + narrowAt);
    }

    private int half(int narrowAt, int wideAt) {
        return in.getShort(wide ? wideAt : narrowAt) & 0xffff;
    }

    private long unsigned(int at) {
        return in.getInt(at) & 0xffffffffL;
    }

    private static int index(long value) {
        if (value < 0 || value > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("offset " + value);
        }
        return (int) value;
    }
}
