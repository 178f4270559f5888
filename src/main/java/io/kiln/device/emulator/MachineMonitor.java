// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.emulator.DebugStub.LocalSockets;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Asks QEMU's monitor (QMP, one JSON object per line) for the number of executed instructions. Thread-safe. */
final class MachineMonitor implements AutoCloseable {
    private static final String PLACE = "QEMU's monitor";
    private static final Pattern LAG = Pattern.compile("Host - Guest clock +(-?[0-9]{1,18}) ms");
    private static final Pattern WORD = Pattern.compile("0x([0-9a-f]{8})\\b");

    private final ObjectMapper json = new ObjectMapper();
    private final SocketChannel channel;
    private final BufferedReader lines;

    private MachineMonitor(SocketChannel channel) {
        this.channel = channel;
        this.lines = new BufferedReader(Channels.newReader(channel, StandardCharsets.UTF_8));
    }

    /** Connects as soon as QEMU listens. */
    static MachineMonitor connect(Path socket, Duration timeout) {
        MachineMonitor monitor = new MachineMonitor(LocalSockets.connect(socket, timeout));
        monitor.ask("qmp_capabilities");
        return monitor;
    }

    /** Instructions executed since the start; if the machine is not stopped, those of its last slices may be missing. */
    long instructions() {
        JsonNode count = ask("query-replay").path("icount");
        if (!count.isIntegralNumber()) {
            throw Failure.PROFILE.exception(
                    "this QEMU does not report the number of executed instructions", PLACE, "QEMU 5.2 or later");
        }
        return count.asLong();
    }

    /**
     * Milliseconds by which the machine's clock is behind this computer's, both counted while the machine is not stopped; negative if it is
     * ahead.
     *
     * @return empty if this QEMU does not say
     */
    OptionalLong lagMillis() {
        Matcher lag = LAG.matcher(command("info jit"));
        return lag.find() ? OptionalLong.of(Long.parseLong(lag.group(1))) : OptionalLong.empty();
    }

    /** Words of memory by their physical address; as many as QEMU shows. */
    List<Integer> words(long address, int count) {
        List<Integer> words = new ArrayList<>();
        command("xp /" + count + "xw 0x" + Long.toHexString(address)).lines().forEach(line -> {
            Matcher word = WORD.matcher(line.substring(line.indexOf(':') + 1));
            while (word.find()) {
                words.add(Integer.parseUnsignedInt(word.group(1), 16));
            }
        });
        return words;
    }

    private String command(String line) {
        return ask("human-monitor-command", "{\"command-line\": \"" + line + "\"}")
                .asText("");
    }

    /**
     * Logs executed blocks from here on; the machine must be stopped. Blocks that it knows are translated, and shown, again.
     *
     * @param registers whether the core's registers before each block are logged too
     */
    void logBlocks(boolean registers) {
        logItems(registers ? "exec,in_asm,nochain,cpu" : "exec,in_asm,nochain");
    }

    /** Ends the log. */
    void logNothing() {
        logItems("none");
    }

    private void logItems(String items) {
        JsonNode answer = ask("human-monitor-command", "{\"command-line\": \"log " + items + "\"}");
        if (!answer.asText("?").isEmpty()) {
            throw Failure.PROFILE.exception("this QEMU does not log executed blocks", PLACE, "QEMU 5.2 or later");
        }
    }

    private JsonNode ask(String command) {
        return ask(command, "{}");
    }

    private synchronized JsonNode ask(String command, String arguments) {
        try {
            ByteBuffer request =
                    ByteBuffer.wrap(("{\"execute\": \"" + command + "\", \"arguments\": " + arguments + "}\n")
                            .getBytes(StandardCharsets.US_ASCII));
            while (request.hasRemaining()) {
                channel.write(request);
            }
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                // A greeting and events may come first.
                JsonNode reply = json.readTree(line);
                if (reply.has("return") || reply.has("error")) {
                    return reply.path("return");
                }
            }
            throw Failure.PROFILE.exception("QEMU ended while instructions were counted", PLACE);
        } catch (IOException e) {
            throw new KilnException(Failure.PROFILE.problem("QEMU ended while instructions were counted", PLACE), e);
        }
    }

    @Override
    public void close() {
        LocalSockets.close(channel);
    }
}
