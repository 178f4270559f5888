// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport;

/** A source of bytes that is read with deadlines. For one reader. */
public interface TimedBytes extends AutoCloseable {
    /** Returned by {@link #read} when no byte came in time. */
    int LATE = -2;

    /** Returned by {@link #read} when no byte will come any more. */
    int END = -1;

    /**
     * The next byte, {@link #LATE} or {@link #END}.
     *
     * @param deadline value of {@link #now()} after which not to wait
     */
    int read(long deadline);

    /** The time in nanoseconds, from a clock of the source's own; two values are compared by their difference. */
    long now();

    /** Ends reading. */
    @Override
    void close();
}
