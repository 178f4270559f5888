// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** Counts the bytes read, so that parts which claim to be long take no memory. Without a limit until one is set. */
public final class LimitedInput extends FilterInputStream {
    private long left = Long.MAX_VALUE;
    private long limit = Long.MAX_VALUE;
    private String part = "";

    public LimitedInput(InputStream in) {
        super(in);
    }

    /**
     * Sets the limit for what is read from here on; reading more throws an {@link IOException}.
     *
     * @param bytes the most bytes
     * @param what what is read, for the message
     */
    public void limit(long bytes, String what) {
        left = bytes;
        limit = bytes;
        part = what;
    }

    /** Removes the limit. */
    public void unlimited() {
        limit(Long.MAX_VALUE, "");
    }

    @Override
    public int read() throws IOException {
        int value = super.read();
        count(value < 0 ? 0 : 1);
        return value;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        int count = super.read(into, offset, length);
        count(Math.max(0, count));
        return count;
    }

    private void count(int bytes) throws IOException {
        left -= bytes;
        if (left < 0) {
            throw new IOException(part + " have more than " + limit + " bytes");
        }
    }
}
