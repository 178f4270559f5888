// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport.serial;

import com.fazecast.jSerialComm.SerialPort;
import java.io.InputStream;
import java.util.Objects;

/** The input of a serial port as a stream. */
final class Incoming extends InputStream {
    private static final int ALL_BITS = 0xff;

    private final SerialPort port;

    Incoming(SerialPort port) {
        this.port = port;
    }

    @Override
    public int read() {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & ALL_BITS;
    }

    /** Waits without a time limit for at least one byte. */
    @Override
    public int read(byte[] block, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, block.length);
        int n = 0;
        while (n == 0 && length > 0) {
            n = port.readBytes(block, length, offset);
        }
        return n;
    }
}
