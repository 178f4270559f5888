// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport;

import io.kiln.base.KilnException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.atomic.AtomicBoolean;

/** An open byte connection to a running program, such as a serial port or an emulator's console. It does not interpret the bytes. */
public interface Transport extends AutoCloseable {
    /** The program's output, for one reader; it ends when the connection is closed or breaks. */
    InputStream input();

    /** The program's input. */
    OutputStream output();

    /** Whether a client holds the line, so that another one must not speak on it. Lines that do not know that are never held. */
    default AtomicBoolean held() {
        return new AtomicBoolean();
    }

    /**
     * Whether the program starts and ends with the connection, as in an emulator. Otherwise it may run already, so that
     * its first output may be missed, and it continues when the connection is closed.
     */
    default boolean ownsProgram() {
        return false;
    }

    /**
     * Adds what the connection knows about a failure of the session, such as its name or how the emulator ended.
     *
     * @param failure the failure seen by the reader
     * @return the same or a more detailed exception, to be thrown
     */
    KilnException explained(KilnException failure);

    @Override
    void close();
}
