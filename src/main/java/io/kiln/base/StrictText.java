// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Text in UTF-8 of files that may be damaged. */
public final class StrictText {
    /** Limit for names and target strings in binary files: a longer one means a damaged file, and is not repeated in messages. */
    public static final int MOST_BYTES = 4095;

    private static final int CHARACTERS_AT_ONCE = 256;

    private StrictText() {}

    /** The text; empty if the bytes are not UTF-8. The check takes almost no memory; only valid text is decoded. */
    public static Optional<String> of(Bytes bytes) {
        return isText(bytes) ? Optional.of(bytes.text()) : Optional.empty();
    }

    private static boolean isText(Bytes bytes) {
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        ByteBuffer in = bytes.buffer();
        CharBuffer out = CharBuffer.allocate(Math.min(bytes.size() + 1, CHARACTERS_AT_ONCE));
        CoderResult result = CoderResult.OVERFLOW;
        while (result.isOverflow()) {
            out.clear();
            result = decoder.decode(in, out, true);
        }
        return result.isUnderflow();
    }
}
