// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * An element of a pack's description that says something of a device, such as a memory.
 *
 * @param parts the elements in it
 * @param where file and line
 */
record Property(String element, Map<String, String> attributes, List<Property> parts, String where) {
    /** Open-CMSIS-Pack, PACK.xsd: NonNegativeInteger; 64 bits. */
    private static final Pattern NUMBER = Pattern.compile("\\+?(0[xX][0-9a-fA-F]{1,15}|[0-9]{1,18})");

    /** An attribute; empty if it is absent. */
    String text(String name) {
        return attributes.getOrDefault(name, "");
    }

    /** An attribute that is a path, with {@code /} between its segments; empty if it is absent. */
    Optional<String> path(String name) {
        return Optional.of(text(name).replace('\\', '/')).filter(path -> !path.isEmpty());
    }

    boolean flag(String name) {
        return isTrue(text(name));
    }

    static boolean isTrue(String text) {
        return text.equals("1") || text.equals("true");
    }

    /**
     * An attribute that is a number.
     *
     * @throws KilnException naming the line, if it is absent, negative or no number
     */
    long number(String name) {
        String text = text(name);
        if (!NUMBER.matcher(text).matches()) {
            throw Failure.BOARD.exception(
                    text.isEmpty()
                            ? "the element " + element + " has no attribute " + name
                            : "the attribute " + name + " is " + text,
                    where,
                    "a number such as 0x08000000 or 65536");
        }
        String digits = text.startsWith("+") ? text.substring(1) : text;
        return digits.length() > 1 && Character.toLowerCase(digits.charAt(1)) == 'x'
                ? Long.parseLong(digits.substring(2), 16)
                : Long.parseLong(digits);
    }
}
