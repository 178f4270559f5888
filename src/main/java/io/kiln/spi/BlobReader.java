// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * Reads numbers and texts, little-endian, from bytes that may be damaged. Counts and lengths are checked against what is left; an error names
 * the offset, and by the last argument what was read.
 */
public interface BlobReader {
    /**
     * Where it stands.
     *
     * @return the offset of what is read next
     */
    int position();

    /**
     * How much is left.
     *
     * @return bytes
     */
    int remaining();

    /**
     * Reads 64 bits.
     *
     * @param what for messages, such as {@code the size of the stream}
     * @return the number, signed
     */
    long u64(String what);

    /**
     * Reads 32 bits.
     *
     * @param what for messages
     * @return the number, signed
     */
    int u32(String what);

    /**
     * Reads a count of 64 bits.
     *
     * @param least bytes that each item takes at least
     * @param what for messages, such as {@code the number of functions}
     * @return a count for which enough bytes are left
     */
    int count(int least, String what);

    /**
     * Reads a length of 64 bits and a text in UTF-8.
     *
     * @param what for messages
     * @return the text
     */
    String text(String what);

    /**
     * Reads a count of 64 bits and as many texts.
     *
     * @param what for messages
     * @return the texts
     */
    List<String> texts(String what);

    /**
     * Reads bytes.
     *
     * @param length how many
     * @param what for messages
     * @return a read-only view
     */
    ByteBuffer bytes(int length, String what);

    /**
     * An error at an offset, to be thrown.
     *
     * @param what what is wrong
     * @param at the offset
     * @return the exception
     */
    RuntimeException broken(String what, int at);
}
