// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Predicate;

/** A stream without the lines that a predicate takes out as they come. Not thread-safe. */
final class LineSieve extends InputStream {
    /** Most bytes of a line; a longer one is passed on in parts. */
    private static final int LONGEST_LINE = 64 << 10;

    private static final int BUFFER = 1 << 16;

    private final InputStream source;
    private final Predicate<String> takes;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private byte[] passed = {};
    private int position;

    /**
     * Filters a stream line by line.
     *
     * @param source lines of UTF-8
     * @param takes gets each line without its end, and returns whether it is taken out
     */
    LineSieve(InputStream source, Predicate<String> takes) {
        this.source = new BufferedInputStream(source, BUFFER);
        this.takes = takes;
    }

    @Override
    public int read() throws IOException {
        return fill() ? passed[position++] & 0xFF : -1;
    }

    @Override
    public int read(byte[] block, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        if (!fill()) {
            return -1;
        }
        int n = Math.min(length, passed.length - position);
        System.arraycopy(passed, position, block, offset, n);
        position += n;
        return n;
    }

    /** Reads on until a line is passed on. */
    private boolean fill() throws IOException {
        while (position == passed.length) {
            boolean whole = nextLine();
            if (line.size() == 0 && !whole) {
                return false;
            }
            boolean taken =
                    whole && takes.test(line.toString(StandardCharsets.UTF_8).stripTrailing());
            passed = taken ? new byte[] {} : line.toByteArray();
            position = 0;
            line.reset();
        }
        return true;
    }

    /** Whether the line has an end. */
    private boolean nextLine() throws IOException {
        while (line.size() < LONGEST_LINE) {
            int next = source.read();
            if (next < 0) {
                return false;
            }
            line.write(next);
            if (next == '\n') {
                return true;
            }
        }
        return false;
    }

    @Override
    public void close() throws IOException {
        source.close();
    }
}
