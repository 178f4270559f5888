// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.protocol;

import io.kiln.base.Bytes;
import java.nio.ByteOrder;
import java.util.OptionalInt;

/** The packet by which an image reports its end and its exit code, sent by {@code kiln_end.h}. */
public final class ImageEnd {
    /** Bytes of the payload: {@code exit} and the code. */
    static final int BYTES = 8;

    private static final int MARK = 'e' | 'x' << 8 | 'i' << 16 | 't' << 24;

    private ImageEnd() {}

    /** The code, if the payload is such a packet. */
    public static OptionalInt code(Bytes payload) {
        if (payload.size() != BYTES) {
            return OptionalInt.empty();
        }
        var words = payload.buffer().order(ByteOrder.LITTLE_ENDIAN);
        return words.getInt(0) == MARK ? OptionalInt.of(words.getInt(4)) : OptionalInt.empty();
    }
}
