// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/**
 * Decodes UTF-8 that arrives in pieces: the bytes of an incomplete character are held back until it is complete.
 * Invalid bytes become U+FFFD. Not thread-safe.
 */
public final class Utf8Text {
    /** Bytes of the longest character, minus one. */
    private static final int MOST_HELD_BACK = 3;

    private final CharsetDecoder decoder = StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPLACE)
            .onUnmappableCharacter(CodingErrorAction.REPLACE);
    private ByteBuffer rest = ByteBuffer.allocate(0);

    /** The characters completed by these bytes. */
    public String accept(byte[] bytes) {
        return decode(bytes, false);
    }

    /** The rest at the end of the input: U+FFFD for an incomplete character, otherwise nothing. */
    public String end() {
        String last = decode(new byte[0], true);
        decoder.reset();
        return last;
    }

    private String decode(byte[] bytes, boolean isEnd) {
        ByteBuffer in =
                ByteBuffer.allocate(rest.remaining() + bytes.length).put(rest).put(bytes);
        in.flip();
        CharBuffer out = CharBuffer.allocate(in.remaining() + MOST_HELD_BACK);
        decoder.decode(in, out, isEnd);
        if (isEnd) {
            decoder.flush(out);
        }
        rest = in;
        return out.flip().toString();
    }
}
