// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

/**
 * A word of Relay text.
 *
 * @param text its text; for a string the unescaped content
 * @param place its start
 * @param comment the last block comment before it, without its marks; empty if there is none or it is too long
 */
record Token(Kind kind, String text, Place place, String comment) {
    private static final int SHOWN = 40;

    enum Kind {
        /** An identifier, dots included: {@code nn.conv2d}. */
        NAME,
        /** {@code %x} or {@code %0}. */
        LOCAL,
        /** {@code @main}. */
        GLOBAL,
        NUMBER,
        STRING,
        SYMBOL,
        END
    }

    boolean is(String symbol) {
        return kind == Kind.SYMBOL && text.equals(symbol);
    }

    boolean isName(String name) {
        return kind == Kind.NAME && text.equals(name);
    }

    /** Its text in messages. */
    String shown() {
        String start = text.length() > SHOWN ? text.substring(0, SHOWN) + "…" : text;
        return switch (kind) {
            case END -> "the end of the text";
            case STRING -> Literals.quoted(start);
            default -> "`" + start + "`";
        };
    }
}
