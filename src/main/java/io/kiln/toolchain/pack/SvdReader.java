// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Reads the interrupts of a System View Description. Registers, which are nearly all of it, are passed over. Peripherals that are derived
 * from others name their own interrupts.
 */
final class SvdReader implements SafeXml.Visitor {
    /** Armv7-M Architecture Reference Manual, B3.4. */
    static final int MOST_INTERRUPTS = 496;

    private final String file;
    private final SortedMap<Integer, Set<String>> interrupts = new TreeMap<>();
    private boolean isOfDevice;
    private boolean isInInterrupt;
    private String name = "";
    private String value = "";

    private SvdReader(String file) {
        this.file = file;
    }

    /**
     * The names of each interrupt by its number, each name once, in the order of the file.
     *
     * @param file its name, for messages
     * @throws KilnException naming the line, if it is no such description, or if an interrupt has no name or number
     */
    static SortedMap<Integer, Set<String>> interrupts(String file, Bytes content) {
        SvdReader reader = new SvdReader(file);
        SafeXml.read(file, content, reader);
        return reader.interrupts;
    }

    @Override
    public void begin(String element, Map<String, String> attributes, int line) {
        if (!isOfDevice && !element.equals("device")) {
            throw refused("the file begins with the element " + element, line, "device, as a CMSIS-SVD file");
        }
        isOfDevice = true;
        if (element.equals("interrupt")) {
            isInInterrupt = true;
            name = "";
            value = "";
        }
    }

    @Override
    public void end(String element, String text, int line) {
        if (!isInInterrupt) {
            return;
        }
        switch (element) {
            case "name" -> name = text;
            case "value" -> value = text;
            case "interrupt" -> {
                isInInterrupt = false;
                if (name.isEmpty()) {
                    throw refused("an interrupt has no name", line, "an element name in it");
                }
                interrupts
                        .computeIfAbsent(number(line), any -> new LinkedHashSet<>())
                        .add(name);
            }
            default -> {}
        }
    }

    /** CMSIS-SVD, scaledNonNegativeInteger. */
    private int number(int line) {
        String digits = value.startsWith("+") ? value.substring(1) : value;
        int radix = 10;
        if (digits.startsWith("#")) {
            radix = 2;
            digits = digits.substring(1);
        } else if (digits.length() > 2 && digits.charAt(0) == '0' && !Character.isDigit(digits.charAt(1))) {
            radix = Character.toLowerCase(digits.charAt(1)) == 'b' ? 2 : 16;
            digits = digits.substring(2);
        }
        if (digits.matches("[0-9a-fA-F]{1,10}")) {
            try {
                int number = Integer.parseInt(digits, radix);
                if (number < MOST_INTERRUPTS) {
                    return number;
                }
            } catch (NumberFormatException e) {
                // The message below tells what is wrong.
            }
        }
        throw refused(
                "the interrupt " + name + (value.isEmpty() ? " has no number" : " has the number " + value),
                line,
                "0 to " + (MOST_INTERRUPTS - 1));
    }

    private KilnException refused(String what, int line, String expected) {
        return new KilnException(Failure.BOARD.problem(what, file + ":" + line, expected, ""));
    }
}
