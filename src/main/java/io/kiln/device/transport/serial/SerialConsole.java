// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport.serial;

import com.fazecast.jSerialComm.SerialPort;
import com.fazecast.jSerialComm.SerialPortInvalidPortException;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.transport.Transport;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/** An open serial port, 8N1: the connection to a board. Closing it releases the port. */
public final class SerialConsole implements Transport {
    private static final int BLOCK_MILLIS = 100;

    private final SerialPort port;
    private final AtomicBoolean held = new AtomicBoolean();
    private final String name;

    private SerialConsole(SerialPort port, String name) {
        this.port = port;
        this.name = name;
    }

    /**
     * Opens a port.
     *
     * @param path such as {@code /dev/ttyACM0}
     * @param baud bits per second
     * @throws KilnException if it is missing, in use, or not accessible to this user
     */
    public static SerialConsole open(String path, int baud) {
        try {
            SerialPort port = SerialPort.getCommPort(path);
            port.setComPortParameters(baud, 8, SerialPort.ONE_STOP_BIT, SerialPort.NO_PARITY);
            port.setComPortTimeouts(SerialPort.TIMEOUT_READ_SEMI_BLOCKING, BLOCK_MILLIS, 0);
            if (!port.openPort()) {
                throw Failure.DEVICE.exception(
                        "the serial port cannot be opened (error " + port.getLastErrorCode() + ")",
                        path,
                        "an existing port that no other program uses and that this user may open",
                        "Close other terminals; on Linux join the group of the device (ls -l " + path + ")");
            }
            return new SerialConsole(port, path + " at " + baud + " baud");
        } catch (SerialPortInvalidPortException e) {
            throw new KilnException(
                    Failure.DEVICE.problem("there is no such serial port", path, "a port", "Correct kiln.monitor.port"),
                    e);
        }
    }

    @Override
    public InputStream input() {
        return new Incoming(port);
    }

    @Override
    public OutputStream output() {
        return new Outgoing(port);
    }

    @Override
    public AtomicBoolean held() {
        return held;
    }

    /** Adds the port's name and speed to problems whose place is only "console". */
    @Override
    public KilnException explained(KilnException failure) {
        return failure.relocated("console", name);
    }

    @Override
    public void close() {
        port.closePort();
    }

    /** The input of a serial port as a stream. */
    private static final class Incoming extends InputStream {
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

    private static final class Outgoing extends OutputStream {
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
}
