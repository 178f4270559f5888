// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu;

import io.kiln.base.Bytes;
import io.kiln.npu.NpuConfiguration.Product;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * What the driver of an Ethos-U gets: {@code COP1}, the configuration that the stream is for, and the command stream. The content is untrusted:
 * each word is checked, and a stream costs time and memory in proportion to its bytes.
 *
 * @param configuration which NPU it is for
 * @param streamOffset first byte of the command stream
 * @param commands the commands, up to {@code STOP}
 */
public record DriverPayload(NpuConfiguration configuration, int streamOffset, List<Command> commands) {
    /** Alignment in bytes of a payload, of its stream and of everything that the NPU addresses. */
    public static final int ALIGNMENT = 16;

    private static final int FOURCC = 0x31504F43;
    private static final int CONFIGURATION = 1;
    private static final int STREAM = 2;
    private static final int NOTHING = 5;
    private static final int WORD = 4;
    private static final String AGAIN = "a payload as Vela writes it";

    public DriverPayload {
        commands = List.copyOf(commands);
    }

    /** Whether bytes begin as a payload does. */
    public static boolean accepts(Bytes content) {
        return content.size() >= WORD && content.int32(0) == FOURCC;
    }

    /**
     * Reads a payload.
     *
     * @param refusal makes the exception for the first thing that is wrong, with its offset
     */
    public static DriverPayload read(Bytes content, Refusal refusal) {
        if (!accepts(content) || content.size() % WORD != 0) {
            throw refusal.of(
                    "the command stream does not begin with COP1, or is no whole number of words (" + content.size()
                            + " bytes)",
                    AGAIN);
        }
        return new Reader(content, refusal).payload();
    }

    /** The disassembly: the configuration, all commands, and behind each that starts an operation the memory that it touches. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add("for " + configuration.name() + ", architecture " + configuration.release() + ", " + commands.size()
                + " commands");
        Map<Integer, NpuOperation> operations = new HashMap<>();
        NpuOperations.of(this).forEach(operation -> operations.put(operation.offset(), operation));
        for (Command command : commands) {
            lines.add("  " + command.text());
            Optional.ofNullable(operations.get(command.offset()))
                    .ifPresent(operation -> lines.add("    " + operation.text()));
        }
        return lines;
    }

    /** Reads one payload. */
    private static final class Reader {
        private final Bytes content;
        private final Refusal refusal;
        private Optional<NpuConfiguration> configuration = Optional.empty();
        private Optional<DriverPayload> payload = Optional.empty();

        Reader(Bytes content, Refusal refusal) {
            this.content = content;
            this.refusal = refusal;
        }

        DriverPayload payload() {
            int at = WORD;
            while (at < content.size()) {
                int tag = content.int32(at);
                at = action(tag, at);
            }
            return payload.orElseThrow(() -> refusal.of("the payload has no command stream", AGAIN));
        }

        /** Reads an action and returns the offset behind it. */
        private int action(int tag, int at) {
            switch (tag & 0xFF) {
                case CONFIGURATION -> {
                    require(at, 2 * WORD, "the configuration");
                    int config = content.int32(at + WORD);
                    configuration = NpuConfiguration.of(config, content.int32(at + 2 * WORD));
                    if (configuration.isEmpty()) {
                        throw wrong(at, "names product " + (config >>> 28), "0 (U55), 1 (U65) or 2 (U85)");
                    }
                    return at + 3 * WORD;
                }
                case STREAM -> {
                    int words = (tag >>> 16) | (tag >>> 8 & 0xFF) << 16;
                    require(at, (long) words * WORD, "the command stream");
                    stream(at + WORD, words);
                    return at + WORD + words * WORD;
                }
                case NOTHING -> {
                    return at + WORD;
                }
                default ->
                    throw wrong(
                            at,
                            "is driver action " + (tag & 0xFF),
                            "1 (configuration), 2 (command stream) or 5 (nothing), which the driver takes");
            }
        }

        private void stream(int start, int words) {
            if (configuration.isEmpty() || payload.isPresent()) {
                throw wrong(
                        start - WORD,
                        payload.isPresent() ? "is a second command stream" : "is a stream without a configuration",
                        "a configuration, then one command stream");
            }
            if (start % ALIGNMENT != 0) {
                throw wrong(start, "is where the stream begins", "a multiple of " + ALIGNMENT);
            }
            boolean isKnown = configuration.get().product() != Product.U85;
            List<Command> commands = new ArrayList<>();
            int end = start + words * WORD;
            int at = start;
            while (at < end) {
                Command command = command(at, end, isKnown);
                commands.add(command);
                if (command.name().equals(CommandNames.STOP)) {
                    payload = Optional.of(new DriverPayload(configuration.get(), start, commands));
                    return;
                }
                at += command.isWide() ? 2 * WORD : WORD;
            }
            throw wrong(end, "is where the stream ends, without STOP", "STOP as its last command");
        }

        private Command command(int at, int end, boolean isKnown) {
            int word = content.int32(at);
            int kind = word >>> 14 & 3;
            if (kind > 1) {
                throw wrong(at, "is a command of kind " + kind, "kind 0 or 1");
            }
            boolean isWide = kind == 1;
            if (isWide && at + 2 * WORD > end) {
                throw wrong(at, "is a command whose second word lies beyond the stream", "two words");
            }
            Command command = new Command(
                    at, word & 0x3FF, isWide, word >>> 16, isWide ? content.int32(at + WORD) & 0xFFFFFFFFL : 0);
            if (isKnown && command.name().isEmpty()) {
                throw wrong(
                        at,
                        String.format(Locale.ROOT, "is the unknown command 0x%03x of kind %d", command.opcode(), kind),
                        "a command of U55 or U65");
            }
            return command;
        }

        private void require(int at, long bytes, String what) {
            if (at + WORD + bytes > content.size()) {
                throw wrong(at, "begins " + what + " of " + bytes + " bytes, which ends beyond the payload", AGAIN);
            }
        }

        private RuntimeException wrong(int at, String what, String expected) {
            return refusal.of(String.format(Locale.ROOT, "byte 0x%x of the command stream %s", at, what), expected);
        }
    }
}
