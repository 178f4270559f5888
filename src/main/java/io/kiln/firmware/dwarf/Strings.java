// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.dwarf;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Strings that line tables refer to.
 *
 * @param lines section {@code .debug_line_str}
 * @param others section {@code .debug_str}
 */
record Strings(ByteBuffer lines, ByteBuffer others) {
    private static final int LONGEST = 1024;

    static String at(ByteBuffer section, long offset) {
        if (offset >= section.capacity()) {
            throw new BufferUnderflowException();
        }
        return next(section.duplicate().position((int) offset));
    }

    /** The string at the buffer's position; the position moves behind its terminating zero. */
    static String next(ByteBuffer in) {
        int start = in.position();
        while (in.get() != 0) {
            if (in.position() - start > LONGEST) {
                throw new IllegalArgumentException("a name of more than " + LONGEST + " bytes");
            }
        }
        byte[] bytes = new byte[in.position() - 1 - start];
        in.get(start, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
