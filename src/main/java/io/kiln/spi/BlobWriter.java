// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

import java.nio.ByteBuffer;
import java.util.Collection;

/** Writes numbers and texts, little-endian, as {@link BlobReader} reads them. */
public interface BlobWriter {
    /**
     * Writes 64 bits.
     *
     * @param value the number
     * @return this
     */
    BlobWriter u64(long value);

    /**
     * Writes 32 bits.
     *
     * @param value the number
     * @return this
     */
    BlobWriter u32(int value);

    /**
     * Writes a length of 64 bits and a text in UTF-8.
     *
     * @param value the text
     * @return this
     */
    BlobWriter string(String value);

    /**
     * Writes a count of 64 bits and texts.
     *
     * @param values the texts
     * @return this
     */
    BlobWriter strings(Collection<String> values);

    /**
     * Writes bytes as they are.
     *
     * @param value from its position to its limit
     * @return this
     */
    BlobWriter bytes(ByteBuffer value);
}
