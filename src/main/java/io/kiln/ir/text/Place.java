// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

/** A position in a text; line and column count from 1, columns in UTF-16 units. */
public record Place(int line, int column) {
    /** The text in messages: {@code model.relay:3:14}. */
    public String in(String file) {
        return file + ":" + line + ":" + column;
    }
}
