// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

/** A place in a text, both counted from 1; columns are UTF-16 units. */
public record Place(int line, int column) {
    /** As messages show it: {@code model.relay:3:14}. */
    public String in(String file) {
        return file + ":" + line + ":" + column;
    }
}
