// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu;

import io.kiln.base.Bytes;
import io.kiln.npu.NpuConfiguration.Product;
import io.kiln.npu.NpuOperations.NpuOperation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

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

    /** Makes the exception for bytes that cannot be read, with the place that the reader of the file knows. */
    @FunctionalInterface
    public interface Refusal {
        /**
         * The exception.
         *
         * @param what what is wrong, with its offset
         * @param expected what should be there
         */
        RuntimeException of(String what, String expected);
    }

    /**
     * A command of a stream.
     *
     * @param offset its byte in the payload
     * @param opcode bits 0 to 9 of its first word
     * @param isWide whether a word follows the first one
     * @param parameter bits 16 to 31 of its first word
     * @param value the word that follows, unsigned; 0 if there is none
     */
    public record Command(int offset, int opcode, boolean isWide, int parameter, long value) {
        /** Its name without the prefix of Arm's headers; empty if U55 and U65 have no such command. */
        public String name() {
            return CommandNames.of(isWide, opcode);
        }

        /** Whether it starts an operation or ends the stream; the others set registers or wait. */
        boolean starts() {
            return !isWide && CommandNames.STARTS.contains(name());
        }

        /** A register's value: addresses have bits 32 to 39 in the parameter. */
        long register() {
            return isWide ? value | (CommandNames.isAddress(opcode) ? (parameter & 0xFFL) << 32 : 0) : parameter;
        }

        /** One line of the disassembly. */
        public String text() {
            String shown = name().isEmpty() ? String.format(Locale.ROOT, "unknown 0x%03x", opcode) : name();
            String operand = isWide
                    ? String.format(Locale.ROOT, "0x%08x%s", value, parameter == 0 ? "" : ", " + parameter)
                    : String.valueOf(parameter);
            return String.format(Locale.ROOT, "%06x  %s %s", offset, shown, operand);
        }
    }

    /** Names of the commands of U55 and U65, as Arm's public register description has them. */
    private static final class CommandNames {
        /** Commands that start an operation. */
        static final Set<String> STARTS = Set.of("CONV", "DEPTHWISE", "POOL", "ELEMENTWISE", "DMA_START");

        static final String STOP = "STOP";

        private static final Map<Integer, String> NARROW = narrow();
        private static final Map<Integer, String> WIDE = wide();

        private CommandNames() {}

        private static Map<Integer, String> narrow() {
            Map<Integer, String> names = new HashMap<>();
            put(names, 0x000, STOP, "IRQ", "CONV", "DEPTHWISE", "", "POOL", "ELEMENTWISE");
            put(names, 0x010, "DMA_START", "DMA_WAIT", "KERNEL_WAIT", "PMU_MASK");
            put(
                    names,
                    0x100,
                    "SET_IFM_PAD_TOP",
                    "SET_IFM_PAD_LEFT",
                    "SET_IFM_PAD_RIGHT",
                    "SET_IFM_PAD_BOTTOM",
                    "SET_IFM_DEPTH_M1",
                    "SET_IFM_PRECISION",
                    "",
                    "SET_IFM_UPSCALE",
                    "",
                    "SET_IFM_ZERO_POINT",
                    "SET_IFM_WIDTH0_M1",
                    "SET_IFM_HEIGHT0_M1",
                    "SET_IFM_HEIGHT1_M1",
                    "SET_IFM_IB_END",
                    "",
                    "SET_IFM_REGION");
            put(
                    names,
                    0x111,
                    "SET_OFM_WIDTH_M1",
                    "SET_OFM_HEIGHT_M1",
                    "SET_OFM_DEPTH_M1",
                    "SET_OFM_PRECISION",
                    "SET_OFM_BLK_WIDTH_M1",
                    "SET_OFM_BLK_HEIGHT_M1",
                    "SET_OFM_BLK_DEPTH_M1",
                    "SET_OFM_ZERO_POINT",
                    "",
                    "SET_OFM_WIDTH0_M1",
                    "SET_OFM_HEIGHT0_M1",
                    "SET_OFM_HEIGHT1_M1",
                    "",
                    "",
                    "SET_OFM_REGION",
                    "SET_KERNEL_WIDTH_M1",
                    "SET_KERNEL_HEIGHT_M1",
                    "SET_KERNEL_STRIDE",
                    "SET_PARALLEL_MODE",
                    "SET_ACC_FORMAT",
                    "SET_ACTIVATION",
                    "SET_ACTIVATION_MIN",
                    "SET_ACTIVATION_MAX",
                    "SET_WEIGHT_REGION",
                    "SET_SCALE_REGION");
            put(names, 0x12D, "SET_AB_START", "", "SET_BLOCKDEP", "SET_DMA0_SRC_REGION", "SET_DMA0_DST_REGION");
            put(names, 0x132, "SET_DMA0_SIZE0", "SET_DMA0_SIZE1");
            put(names, 0x180, "SET_IFM2_BROADCAST", "SET_IFM2_SCALAR", "", "", "", "SET_IFM2_PRECISION");
            put(
                    names,
                    0x189,
                    "SET_IFM2_ZERO_POINT",
                    "SET_IFM2_WIDTH0_M1",
                    "SET_IFM2_HEIGHT0_M1",
                    "SET_IFM2_HEIGHT1_M1");
            put(names, 0x18D, "SET_IFM2_IB_START", "", "SET_IFM2_REGION");
            return Map.copyOf(names);
        }

        private static Map<Integer, String> wide() {
            Map<Integer, String> names = new HashMap<>();
            map(names, "IFM", 0x000);
            map(names, "OFM", 0x010);
            put(
                    names,
                    0x020,
                    "SET_WEIGHT_BASE",
                    "SET_WEIGHT_LENGTH",
                    "SET_SCALE_BASE",
                    "SET_SCALE_LENGTH",
                    "SET_OFM_SCALE");
            put(names, 0x025, "SET_OPA_SCALE", "SET_OPB_SCALE");
            put(names, 0x030, "SET_DMA0_SRC", "SET_DMA0_DST", "SET_DMA0_LEN", "SET_DMA0_SKIP0", "SET_DMA0_SKIP1");
            map(names, "IFM2", 0x080);
            put(names, 0x090, "SET_WEIGHT1_BASE", "SET_WEIGHT1_LENGTH", "SET_SCALE1_BASE", "SET_SCALE1_LENGTH");
            return Map.copyOf(names);
        }

        private static void map(Map<Integer, String> names, String map, int first) {
            put(
                    names,
                    first,
                    "SET_" + map + "_BASE0",
                    "SET_" + map + "_BASE1",
                    "SET_" + map + "_BASE2",
                    "SET_" + map + "_BASE3",
                    "SET_" + map + "_STRIDE_X",
                    "SET_" + map + "_STRIDE_Y",
                    "SET_" + map + "_STRIDE_C");
        }

        private static void put(Map<Integer, String> names, int first, String... all) {
            for (int i = 0; i < all.length; i++) {
                if (!all[i].isEmpty()) {
                    names.put(first + i, all[i]);
                }
            }
        }

        static String of(boolean isWide, int opcode) {
            return (isWide ? WIDE : NARROW).getOrDefault(opcode, "");
        }

        /** Whether a wide register has 40 bits: all but the scales, whose parameter is a shift. */
        static boolean isAddress(int opcode) {
            return opcode < 0x024 || opcode > 0x026;
        }
    }
}
