// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.console;

import com.fazecast.jSerialComm.SerialPort;
import com.fazecast.jSerialComm.SerialPortInvalidPortException;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.Predicate;

/** An open serial port, 8N1. Close it to give it back. */
public final class SerialConsole implements AutoCloseable {
    private static final int BLOCK_MILLIS = 100;
    private static final int BLOCK_BYTES = 4096;

    private final SerialPort port;

    private SerialConsole(SerialPort port) {
        this.port = port;
    }

    /**
     * Opens a port.
     *
     * @param path such as {@code /dev/ttyACM0}
     * @param baud bits per second
     * @throws KilnException if it is not there, in use, or not for this user
     */
    public static SerialConsole open(String path, int baud) {
        try {
            SerialPort port = SerialPort.getCommPort(path);
            port.setComPortParameters(baud, 8, SerialPort.ONE_STOP_BIT, SerialPort.NO_PARITY);
            port.setComPortTimeouts(SerialPort.TIMEOUT_READ_SEMI_BLOCKING, BLOCK_MILLIS, 0);
            if (!port.openPort()) {
                throw new KilnException(new Problem(
                        "the serial port cannot be opened (error " + port.getLastErrorCode() + ")",
                        path,
                        "a port that is there, that no other program uses and that this user may open",
                        "Close other terminals; on Linux join the group of the device (ls -l " + path + ")"));
            }
            return new SerialConsole(port);
        } catch (SerialPortInvalidPortException e) {
            throw new KilnException(
                    new Problem("there is no such serial port", path, "a port", "Correct kiln.monitor.port"), e);
        }
    }

    /** How reading came to its end. */
    public enum End {
        /** The receiver had enough. */
        ENOUGH,
        /** The time was over. */
        TIME_OVER,
        /** The port went away. */
        CLOSED
    }

    /**
     * Hands over what comes until it is enough.
     *
     * @param limit time to read for
     * @param enough gets each piece; true ends reading
     * @throws KilnException if this thread is interrupted
     */
    public End read(Duration limit, Predicate<byte[]> enough) {
        long start = System.nanoTime();
        byte[] block = new byte[BLOCK_BYTES];
        while (System.nanoTime() - start < limit.toNanos()) {
            if (Thread.currentThread().isInterrupted()) {
                throw new KilnException(Problem.of("the build was interrupted", port.getSystemPortPath()));
            }
            int n = port.readBytes(block, block.length);
            if (n < 0) {
                return End.CLOSED;
            }
            if (n > 0 && enough.test(Arrays.copyOf(block, n))) {
                return End.ENOUGH;
            }
        }
        return End.TIME_OVER;
    }

    /** What comes, for one reader; ends when the port is closed or goes away. */
    public InputStream input() {
        return new Incoming(port);
    }

    /** What goes out. */
    public OutputStream output() {
        return new Outgoing(port);
    }

    @Override
    public void close() {
        port.closePort();
    }
}
