// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport;

import io.kiln.base.KilnException;
import java.io.InputStream;
import java.io.OutputStream;

/** An open line of bytes to a running program: a serial port, the console of an emulator. It means nothing by the bytes. */
public interface Transport extends AutoCloseable {
    /** What the program sends, for one reader; it ends when the line is closed or breaks. */
    InputStream input();

    /** What the program receives. */
    OutputStream output();

    /**
     * Whether the program starts and ends with the line, as in an emulator. Otherwise it may run already, so that its first words may be
     * missed, and it goes on when the line is closed.
     */
    boolean ownsProgram();

    /**
     * Adds what the line knows about a failure of the conversation, such as its name or how the emulator ended.
     *
     * @param failure what the reader of this line met
     * @return the same or a fuller exception, to be thrown
     */
    KilnException explained(KilnException failure);

    @Override
    void close();
}
