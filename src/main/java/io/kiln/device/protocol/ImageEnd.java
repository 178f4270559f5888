// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.protocol;

import io.kiln.base.Bytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The packet by which an image reports its end, sent by {@code kiln_end.h}.
 *
 * @param code its exit code
 * @param stackUsed the deepest use of its stack in bytes; empty if its start-up code does not know
 */
public record ImageEnd(int code, OptionalLong stackUsed) {
    /** Most bytes of the payload: {@code exit}, the code, and the use of the stack, which a board's own code may leave out. */
    static final int BYTES = 12;

    private static final int WITHOUT_STACK = 8;
    private static final int MARK = 'e' | 'x' << 8 | 'i' << 16 | 't' << 24;

    /** What the payload says, if it is such a packet. */
    public static Optional<ImageEnd> in(Bytes payload) {
        if (payload.size() != BYTES && payload.size() != WITHOUT_STACK) {
            return Optional.empty();
        }
        ByteBuffer words = payload.buffer().order(ByteOrder.LITTLE_ENDIAN);
        if (words.getInt(0) != MARK) {
            return Optional.empty();
        }
        long used = payload.size() == BYTES ? Integer.toUnsignedLong(words.getInt(8)) : 0;
        return Optional.of(new ImageEnd(words.getInt(4), used == 0 ? OptionalLong.empty() : OptionalLong.of(used)));
    }
}
