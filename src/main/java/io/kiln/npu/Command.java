// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu;

import java.util.Locale;

/**
 * A command of a stream.
 *
 * @param offset its byte in the payload
 * @param opcode bits 0 to 9 of its first word
 * @param isWide whether a word follows the first one
 * @param parameter bits 16 to 31 of its first word
 * @param value the word that follows, unsigned; 0 if there is none
 */
public record Command(int offset, int opcode, boolean isWide, int parameter, long value) {
    /** Its name without the prefix of Arm's headers; empty if U55 and U65 have no such command. */
    public String name() {
        return CommandNames.of(isWide, opcode);
    }

    /** Whether it starts an operation or ends the stream; the others set registers or wait. */
    boolean starts() {
        return !isWide && CommandNames.STARTS.contains(name());
    }

    /** A register's value: addresses have bits 32 to 39 in the parameter. */
    long register() {
        return isWide ? value | (CommandNames.isAddress(opcode) ? (parameter & 0xFFL) << 32 : 0) : parameter;
    }

    /** One line of the disassembly. */
    public String text() {
        String shown = name().isEmpty() ? String.format(Locale.ROOT, "unknown 0x%03x", opcode) : name();
        String operand = isWide
                ? String.format(Locale.ROOT, "0x%08x%s", value, parameter == 0 ? "" : ", " + parameter)
                : String.valueOf(parameter);
        return String.format(Locale.ROOT, "%06x  %s %s", offset, shown, operand);
    }
}
