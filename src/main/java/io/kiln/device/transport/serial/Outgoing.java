// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport.serial;

import com.fazecast.jSerialComm.SerialPort;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;

/** The output of a serial port as a stream. */
final class Outgoing extends OutputStream {
    private final SerialPort port;

    Outgoing(SerialPort port) {
        this.port = port;
    }

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] block, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, block.length);
        int sent = 0;
        while (sent < length) {
            int n = port.writeBytes(block, length - sent, offset + sent);
            if (n < 0) {
                throw new IOException("the serial port " + port.getSystemPortPath() + " disappeared");
            }
            sent += n;
        }
    }
}
