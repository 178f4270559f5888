// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.decode;

import io.kiln.base.Bytes;
import io.kiln.base.ResourceTree;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The encodings of an architecture: instructions of one halfword, and of two. */
public final class InstructionSet {
    private static final int NARROW = 2;
    private static final int WIDE = 4;
    private static final int HALFWORD_BITS = 16;

    private final InstructionTable narrow;
    private final InstructionTable wide;
    private final boolean thumb;

    private InstructionSet(InstructionTable narrow, InstructionTable wide, boolean thumb) {
        this.narrow = narrow;
        this.wide = wide;
        this.thumb = thumb;
    }

    /** Thumb-2 with the DSP, floating-point and vector extensions. */
    public static InstructionSet thumb() {
        return Thumb.SET;
    }

    /** RV32IMAC. */
    public static InstructionSet rv32() {
        return Rv32.SET;
    }

    /** Loaded only if used. */
    private static final class Thumb {
        static final InstructionSet SET = new InstructionSet(
                InstructionTable.of(NARROW, "thumb16.txt"),
                InstructionTable.of(WIDE, "thumb32.txt", "thumbfloat.txt", "thumbvector.txt"),
                true);
    }

    /** Loaded only if used. */
    private static final class Rv32 {
        static final InstructionSet SET = new InstructionSet(
                InstructionTable.of(NARROW, "rv32c.txt"), InstructionTable.of(WIDE, "rv32.txt"), false);
    }

    /** Every kind that it can decode. */
    public Set<InstructionKind> kinds() {
        Set<InstructionKind> kinds = EnumSet.copyOf(narrow.kinds());
        kinds.addAll(wide.kinds());
        return kinds;
    }

    /** Whether a second halfword follows. */
    boolean isWide(int first) {
        return thumb ? first >>> 11 >= 0b11101 : (first & 0b11) == 0b11;
    }

    Instruction narrow(long address, int halfword) {
        return narrow.decode(address, halfword);
    }

    /** Decodes an instruction of two halfwords; Thumb's first halfword is the high one, RISC-V's the low one. */
    Instruction wide(long address, int first, int second) {
        return thumb
                ? wide.decode(address, first << HALFWORD_BITS | second)
                : withoutZero(wide.decode(address, second << HALFWORD_BITS | first));
    }

    private static Instruction withoutZero(Instruction i) {
        return new Instruction(
                i.address(), i.bytes(), i.kind(), i.words(), i.registers().without(1));
    }

    /**
     * Encodings of instructions of one width, from a table among the resources. A line has five columns: encoding, kind, registers written,
     * registers read, registers that form an address; {@code -} stands for none, and {@code #} begins a comment. The first line that fits an
     * instruction counts.
     *
     * <p>The encoding has a character for each bit, highest first: {@code 0}, {@code 1}, or the letter of a field (bits of the same letter
     * are one number). Registers are:
     *
     * <ul>
     *   <li>a field's letter: the core register of that number; {@code d'}: of that number plus 8
     *   <li>{@code {14}}: the core register of that number
     *   <li>{@code list}: the bits of field {@code r}, with register 14 if field {@code L} is set and 15 if {@code P} is
     *   <li>{@code Sd}: the floating-point register of 32 bits whose lowest bit is field {@code D}; {@code Dd}: of 64 bits, whose highest bit
     *       is field {@code D}; {@code Qd}: the vector with that as its lowest half; {@code Sd.i}: as many words from there on as field
     *       {@code i} says, {@code Sd.2}: two
     *   <li>{@code !} after an address: the base is written; it is also written if a field {@code w} is set
     * </ul>
     */
    private static final class InstructionTable {
        private static final String FOLDER = "cycles";

        private final int bytes;
        private final List<Encoding> encodings;

        private InstructionTable(int bytes, List<Encoding> encodings) {
            this.bytes = bytes;
            this.encodings = List.copyOf(encodings);
        }

        /** Reads tables, in this order. */
        static InstructionTable of(int bytes, String... files) {
            Map<String, Bytes> all = ResourceTree.read(FOLDER);
            List<Encoding> encodings = new ArrayList<>();
            for (String file : files) {
                all.get(file)
                        .text()
                        .lines()
                        .filter(line -> !line.isBlank() && !line.startsWith("#"))
                        .map(line -> Encoding.parse(file, line, 8 * bytes))
                        .forEach(encodings::add);
            }
            return new InstructionTable(bytes, encodings);
        }

        /** Kinds that the table knows. */
        List<InstructionKind> kinds() {
            return encodings.stream().map(Encoding::kind).distinct().toList();
        }

        /**
         * Decodes an instruction by the first line that fits.
         *
         * @param address of the instruction
         * @param bits its encoding
         */
        Instruction decode(long address, int bits) {
            Optional<Encoding> found =
                    encodings.stream().filter(encoding -> encoding.fits(bits)).findFirst();
            return found.map(encoding -> encoding.instruction(address, bytes, bits))
                    .orElseGet(() ->
                            new Instruction(address, bytes, InstructionKind.UNKNOWN, 0, Instruction.Registers.NONE));
        }
    }

    /**
     * A line of an {@link InstructionTable}.
     *
     * @param mask bits that are fixed
     * @param value those bits
     * @param kind of the instruction
     * @param fields bits of each letter, as a mask
     * @param operands where its registers stand
     */
    private record Encoding(
            int mask, int value, InstructionKind kind, Map<Character, Integer> fields, Encoding.Operands operands) {
        /**
         * Where the registers of an instruction stand.
         *
         * @param writes registers written
         * @param reads registers read
         * @param addresses registers that form an address
         * @param alwaysWritesBack whether the base is always written
         */
        record Operands(
                List<RegisterField> writes,
                List<RegisterField> reads,
                List<RegisterField> addresses,
                boolean alwaysWritesBack) {}

        private static final int COLUMNS = 5;
        private static final long PROGRAM_COUNTER = 1L << 15;
        private static final Pattern REGISTER =
                Pattern.compile("\\{(\\d+)}|(list)|([SDQ]?)([a-z])('?)(?:\\.([a-z2]))?");

        /** Parses a line of a table. */
        static Encoding parse(String file, String line, int width) {
            String[] columns = line.split(" +", -1);
            if (columns.length != COLUMNS || columns[0].length() != width) {
                throw new IllegalArgumentException(file + ": " + line);
            }
            int mask = 0;
            int value = 0;
            Map<Character, Integer> fields = new TreeMap<>();
            for (int i = 0; i < width; i++) {
                char bit = columns[0].charAt(i);
                int place = 1 << (width - 1 - i);
                if (bit == '0' || bit == '1') {
                    mask |= place;
                    value |= bit == '1' ? place : 0;
                } else {
                    fields.merge(bit, place, (one, other) -> one | other);
                }
            }
            InstructionKind kind =
                    InstructionKind.of(columns[1]).orElseThrow(() -> new IllegalArgumentException(file + ": " + line));
            boolean always = columns[4].endsWith("!");
            String address = always ? columns[4].substring(0, columns[4].length() - 1) : columns[4];
            return new Encoding(
                    mask,
                    value,
                    kind,
                    Map.copyOf(fields),
                    new Operands(registers(columns[2]), registers(columns[3]), registers(address), always));
        }

        private static List<RegisterField> registers(String text) {
            if (text.equals("-")) {
                return List.of();
            }
            Matcher matcher = REGISTER.matcher(text);
            List<RegisterField> registers = new ArrayList<>();
            int end = 0;
            while (matcher.find() && matcher.start() == end) {
                registers.add(RegisterField.of(matcher));
                end = matcher.end();
            }
            if (end != text.length()) {
                throw new IllegalArgumentException("no registers: " + text);
            }
            return List.copyOf(registers);
        }

        boolean fits(int bits) {
            return (bits & mask) == value;
        }

        /** The number in a field; 0 without the field. */
        int field(char letter, int bits) {
            int places = fields.getOrDefault(letter, 0);
            int number = 0;
            for (int i = Integer.SIZE - 1; i >= 0; i--) {
                if ((places >>> i & 1) != 0) {
                    number = (number << 1) | ((bits >>> i) & 1);
                }
            }
            return number;
        }

        Instruction instruction(long address, int bytes, int bits) {
            long base = registers(operands.addresses, bits);
            boolean writesBack = operands.alwaysWritesBack || field('w', bits) != 0;
            long sources = (registers(operands.reads, bits) | base) & ~PROGRAM_COUNTER;
            long results = registers(operands.writes, bits) | (writesBack ? base : 0);
            return new Instruction(
                    address, bytes, kind, words(bits), new Instruction.Registers(results, sources, base, writesBack));
        }

        private long registers(List<RegisterField> list, int bits) {
            long all = 0;
            for (RegisterField register : list) {
                all |= register.mask(this, bits);
            }
            return all;
        }

        private int words(int bits) {
            return switch (kind) {
                case LOAD_MULTIPLE, STORE_MULTIPLE -> Long.bitCount(RegisterField.list(this, bits));
                case FLOAT_LOAD_MULTIPLE, FLOAT_STORE_MULTIPLE -> field('i', bits);
                default -> 0;
            };
        }

        /**
         * A register in a line of an {@link InstructionTable}.
         *
         * @param bank which registers
         * @param letter the field with its number
         * @param number added to the field's number; the register's number if there is no field
         * @param count how many consecutive registers of 32 bits; a letter is the field that says it
         */
        private record RegisterField(Bank bank, char letter, int number, char count) {
            private static final int FIRST_FLOAT = 32;
            private static final int COMPRESSED = 8;
            private static final char NONE = ' ';

            /** Banks of registers. */
            enum Bank {
                CORE,
                LIST,
                SINGLE,
                DOUBLE,
                VECTOR
            }

            /** Makes a register of a match with the groups number, list, bank, letter, quote and count. */
            static RegisterField of(Matcher matcher) {
                if (matcher.group(1) != null) {
                    return new RegisterField(Bank.CORE, NONE, Integer.parseInt(matcher.group(1)), NONE);
                }
                if (matcher.group(2) != null) {
                    return new RegisterField(Bank.LIST, NONE, 0, NONE);
                }
                Bank bank = switch (matcher.group(3)) {
                    case "S" -> Bank.SINGLE;
                    case "D" -> Bank.DOUBLE;
                    case "Q" -> Bank.VECTOR;
                    default -> Bank.CORE;
                };
                char count = matcher.group(6) == null ? NONE : matcher.group(6).charAt(0);
                return new RegisterField(
                        bank, matcher.group(4).charAt(0), matcher.group(5).isEmpty() ? 0 : COMPRESSED, count);
            }

            long mask(Encoding encoding, int bits) {
                int low = number + (letter == NONE ? 0 : encoding.field(letter, bits));
                int high = encoding.field(Character.toUpperCase(letter), bits);
                return switch (bank) {
                    case CORE -> 1L << low;
                    case LIST -> list(encoding, bits);
                    case SINGLE -> words(low << 1 | high, count == NONE ? 1 : count(encoding, bits));
                    case DOUBLE -> words((high << 4 | low) << 1, count == NONE ? 2 : count(encoding, bits));
                    case VECTOR -> words((high << 3 | low) << 2, 4);
                };
            }

            private int count(Encoding encoding, int bits) {
                return Character.isDigit(count) ? Character.digit(count, 10) : encoding.field(count, bits);
            }

            /** The mask of consecutive registers; numbers beyond the bank, which damaged code may name, are dropped. */
            private static long words(int first, int count) {
                long mask = 0;
                for (int i = first; i < Math.min(first + count, FIRST_FLOAT); i++) {
                    mask |= 1L << (FIRST_FLOAT + i);
                }
                return mask;
            }

            static long list(Encoding encoding, int bits) {
                return encoding.field('r', bits)
                        | (long) encoding.field('L', bits) << 14
                        | (long) encoding.field('P', bits) << 15;
            }
        }
    }
}
