// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import io.kiln.device.transport.FrameReader;
import io.kiln.device.transport.TimedBytes;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.function.UnaryOperator;

/**
 * A line to a {@link ScriptedDevice} that takes no time: when nothing is left to read, its clock jumps to the reader's deadline. What goes
 * either way can be changed.
 */
final class ScriptedLine implements TimedBytes {
    static final TransportTimeouts TIMEOUTS = TransportTimeouts.SERIAL;

    private final Queue<Byte> toHost = new ArrayDeque<>();
    private ScriptedDevice device;
    private long time;
    private long fromHostBytes;
    private long toHostBytes;
    private boolean hasEnded;
    private int attempts;
    private UnaryOperator<byte[]> fromHostChange = bytes -> bytes;
    private UnaryOperator<byte[]> toHostChange = bytes -> bytes;
    private final List<String> logs = new ArrayList<>();

    ScriptedLine() {
        this(0xAB);
    }

    ScriptedLine(int nonce) {
        device = new ScriptedDevice(nonce);
    }

    /** Changes what the host sends on its way to the device. */
    ScriptedLine fromHost(UnaryOperator<byte[]> change) {
        fromHostChange = change;
        return this;
    }

    /** Changes what the device sends on its way to the host. */
    ScriptedLine toHost(UnaryOperator<byte[]> change) {
        toHostChange = change;
        return this;
    }

    ScriptedDevice device() {
        return device;
    }

    /** The device loses its power and starts again. */
    void reset() {
        device = new ScriptedDevice(7);
        arrives(device.boot());
    }

    /** The line breaks once all has been read. */
    void end() {
        hasEnded = true;
    }

    /** Puts bytes before the host. */
    void arrives(byte[] bytes) {
        toHostBytes += bytes.length;
        for (byte each : bytes) {
            toHost.add(each);
        }
    }

    /** Bytes on the line so far, both ways. */
    long bytes() {
        return fromHostBytes + toHostBytes;
    }

    /** What the board logged. */
    List<String> logs() {
        return logs;
    }

    /** Seconds that went by. */
    Duration time() {
        return Duration.ofNanos(time);
    }

    RpcClient connect() {
        return connect(TIMEOUTS);
    }

    RpcClient connect(TransportTimeouts timeouts) {
        OutputStream out = new OutputStream() {
            @Override
            public void write(int value) {
                write(new byte[] {(byte) value}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int offset, int length) {
                fromHostBytes += length;
                byte[] arrived = fromHostChange.apply(Arrays.copyOfRange(bytes, offset, offset + length));
                arrives(toHostChange.apply(device.feed(arrived)));
            }
        };
        Connection connection = new Connection(new FrameReader(this, text -> {}, 0), out, timeouts, logs::add);
        // Of these, all would be sent as the same number.
        return RpcClient.over(connection, () -> 8 * (1 + attempts++ % 3));
    }

    @Override
    public int read(long deadline) {
        if (!toHost.isEmpty()) {
            return toHost.remove() & 0xFF;
        }
        if (hasEnded) {
            return END;
        }
        time = Math.max(time, deadline);
        return LATE;
    }

    @Override
    public long now() {
        return time;
    }

    @Override
    public void close() {
        toHost.clear();
    }
}
