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
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

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

    /**
     * A serial port of this computer.
     *
     * @param path its name for opening, such as {@code /dev/ttyACM0} or {@code COM3}
     * @param usb USB ids, {@code vendor:product} in lower-case hexadecimal; empty if it is not on the USB
     * @param serial serial number of the USB device; empty if there is none
     * @param name its description
     */
    public record Port(String path, Optional<String> usb, String serial, String name) {

        public static List<Port> list() {
            return Arrays.stream(SerialPort.getCommPorts())
                    .map(Port::of)
                    .sorted(Comparator.comparing(Port::path))
                    .toList();
        }

        private static Port of(SerialPort port) {
            Optional<String> usb = port.getVendorID() < 0
                    ? Optional.empty()
                    : Optional.of(String.format(Locale.ROOT, "%04x:%04x", port.getVendorID(), port.getProductID()));
            String serial = Optional.ofNullable(port.getSerialNumber())
                    .filter(text -> !text.equals("Unknown"))
                    .orElse("");
            return new Port(port.getSystemPortPath(), usb, serial, port.getDescriptivePortName());
        }

        /** The port in a line, such as {@code /dev/ttyACM0 (0483:374b STM32 STLink, serial 0669FF)}. */
        public String text() {
            return path + " (" + usb.map(ids -> ids + " ").orElse("") + name
                    + (serial.isEmpty() ? "" : ", serial " + serial) + ")";
        }
    }

    /**
     * Selects the port of the board's console. It never guesses between several, and does not take a port without a link to
     * the board.
     *
     * @param path the port named by the user; empty if none
     * @param serial serial number of the USB device named by the user; empty if none
     * @param usb USB ids of the board's console, {@code vendor:product} in lower-case hexadecimal; may be empty
     */
    public record PortChoice(Optional<String> path, Optional<String> serial, List<String> usb) {
        private static final String WHERE = "kiln.monitor.port";

        public PortChoice {
            usb = List.copyOf(usb);
        }

        /**
         * Path of the port.
         *
         * @param ports the existing ports
         * @throws KilnException if none matches, or more than one; with the list of all
         */
        public String choose(List<Port> ports) {
            if (path.isPresent()) {
                return path.get();
            }
            if (serial.isEmpty() && usb.isEmpty()) {
                throw Failure.BOARD.exception(
                        "the board's description has no USB ids of its console",
                        WHERE,
                        "the name of a port; there are: " + texts(ports),
                        "Name one with -Dkiln.monitor.port=<port>, or add console.usb to board.yaml");
            }
            List<Port> fitting = ports.stream().filter(this::fits).toList();
            if (fitting.size() == 1) {
                return fitting.get(0).path();
            }
            String wanted = serial.map(number -> "serial number " + number).orElse("USB ids " + String.join(", ", usb));
            if (fitting.isEmpty()) {
                throw Failure.DEVICE.exception(
                        "no serial port has the " + wanted,
                        WHERE,
                        "one of: " + texts(ports),
                        "Connect the board, or name a port with -Dkiln.monitor.port=<port>");
            }
            throw Failure.DEVICE.exception(
                    "several serial ports have the " + wanted,
                    WHERE,
                    "one of: " + texts(fitting),
                    "Name one with -Dkiln.monitor.serial=<serial> or -Dkiln.monitor.port=<port>");
        }

        private boolean fits(Port port) {
            return (serial.isEmpty() || port.serial().equals(serial.get()))
                    && (usb.isEmpty() || port.usb().filter(usb::contains).isPresent());
        }

        private static String texts(List<Port> ports) {
            return ports.isEmpty() ? "none" : ports.stream().map(Port::text).collect(Collectors.joining("; "));
        }
    }
}
