// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.decode;

import java.util.regex.Matcher;

/**
 * A register in a line of an {@link InstructionTable}.
 *
 * @param bank which registers
 * @param letter the field with its number
 * @param number added to the field's number; the register's number if there is no field
 * @param count how many consecutive registers of 32 bits; a letter is the field that says it
 */
record RegisterField(Bank bank, char letter, int number, char count) {
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

    /** From a match of the groups: number, list, bank, letter, quote, count. */
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

    /** Bits outside the bank, which wrong code may name, are dropped. */
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
