// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.decode;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A line of an {@link InstructionTable}.
 *
 * @param mask bits that are fixed
 * @param value those bits
 * @param kind of the instruction
 * @param fields bits of each letter, as a mask
 * @param operands where its registers stand
 */
record Encoding(int mask, int value, InstructionKind kind, Map<Character, Integer> fields, Encoding.Operands operands) {
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
    private static final Pattern REGISTER = Pattern.compile("\\{(\\d+)}|(list)|([SDQ]?)([a-z])('?)(?:\\.([a-z2]))?");

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
