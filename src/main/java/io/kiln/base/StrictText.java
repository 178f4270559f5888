// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.Optional;

/** Text in UTF-8 of files that may be damaged. */
public final class StrictText {
    /** Limit for names and target strings in binary files: a longer one means a damaged file, and is not repeated in messages. */
    public static final int MOST_BYTES = 4095;

    private StrictText() {}

    /** The text; empty if the bytes are not UTF-8. The check takes no memory; only valid text is decoded. */
    public static Optional<String> of(Bytes bytes) {
        return isText(bytes, 0, bytes.size()) ? Optional.of(bytes.text()) : Optional.empty();
    }

    /** Whether some of the bytes are UTF-8 (RFC 3629): no surrogates, nothing above U+10FFFF, and the shortest form of each character. */
    public static boolean isText(Bytes bytes, int start, int length) {
        int end = start + length;
        int at = start;
        while (at < end) {
            int first = bytes.get(at);
            int more = first >= 0 ? 0 : more(first & 0xFF);
            if (more < 0 || more >= end - at) {
                return false;
            }
            if (more > 0 && !isSecond(first & 0xFF, bytes.get(at + 1) & 0xFF)) {
                return false;
            }
            for (int i = 2; i <= more; i++) {
                if ((bytes.get(at + i) & 0xC0) != 0x80) {
                    return false;
                }
            }
            at += more + 1;
        }
        return true;
    }

    /** Number of bytes that follow the first one of a character above U+007F; negative if none begins with it. */
    private static int more(int first) {
        if (first < 0xC2 || first > 0xF4) {
            return -1;
        }
        return first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    }

    /** Whether the second byte of a character fits the first one. */
    private static boolean isSecond(int first, int second) {
        int least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
        int most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
        return second >= least && second <= most;
    }
}
