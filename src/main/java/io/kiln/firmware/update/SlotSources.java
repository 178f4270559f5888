// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import io.kiln.artifact.InterfaceNames.Side;
import io.kiln.base.Bytes;
import io.kiln.base.ResourceTree;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.ModelSlots;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Prints the C of a firmware with slots, and that of its regions. */
final class SlotSources {
    /** Folder in the C project. */
    static final String FOLDER = "slots";

    private static final String LICENCE = "/* SPDX-License-Identifier: Apache-2.0 */\n";
    private static final int WORDS_PER_LINE = 8;

    private SlotSources() {}

    /** The table of functions behind a region's header. */
    static SortedMap<String, Bytes> functions(ModelInterface models) {
        StringBuilder out = new StringBuilder(LICENCE);
        out.append("#include <stdint.h>\n\n");
        models.functions().stream()
                .map(function -> function.names().header())
                .distinct()
                .forEach(header -> out.append("#include \"" + header + "\"\n"));
        out.append("\n/* Called through their addresses by the firmware. */\n")
                .append(
                        "__attribute__((section(\".rodata.kiln.functions\"), used)) static void (*const functions[])(void) = {\n");
        models.functions().forEach(function -> out.append("    (void (*)(void))" + function.name() + ",\n"));
        out.append("};\n");
        return new TreeMap<>(Map.of(FOLDER + "/kiln_functions.c", Bytes.ofText(out.toString())));
    }

    /** The C that chooses, verifies and calls regions, with the first region. */
    static SortedMap<String, Bytes> firmware(
            Board board, ModelInterface models, SlotRequest request, ModelRegion first) {
        SortedMap<String, Bytes> files = new TreeMap<>();
        ResourceTree.read("update").forEach((name, content) -> files.put(FOLDER + "/" + name, content));
        files.put(FOLDER + "/kiln_slots_config.c", Bytes.ofText(settings(board, models, request)));
        files.put(FOLDER + "/kiln_models.c", Bytes.ofText(calls(models)));
        files.put(FOLDER + "/kiln_first_slot.c", Bytes.ofText(slot(first)));
        return files;
    }

    private static String settings(Board board, ModelInterface models, SlotRequest request) {
        ModelSlots slots = board.slots().orElseThrow();
        Board.Memory memory = board.workspace().orElseThrow();
        return LICENCE + "#include \"kiln_slots.h\"\n\n"
                + "__attribute__((section(\".rodata.kiln.firmware\"), used)) const struct kiln_slots kiln_slots = {\n"
                + "    .magic = {" + bytes(InstalledFirmware.MAGIC) + "},\n"
                + "    .address = {" + hex(slots.first()) + ", " + hex(slots.second()) + "},\n"
                + "    .bytes = " + slots.bytes() + "u,\n"
                + "    .memory = " + hex(slots.memory()) + ",\n"
                + "    .memory_bytes = " + (memory.end() - slots.memory()) + "u,\n"
                + "    .firmware = "
                + hex(Integer.toUnsignedLong(request.firmware().number())) + ", /* "
                + request.firmware() + " */\n"
                + "    .board = \"" + board.id() + "\",\n"
                + "    .interface = {" + bytes(models.digest()) + "},\n"
                + "    .key = {" + bytes(request.key().publicBytes()) + "},\n};\n";
    }

    private static String hex(long number) {
        return String.format(Locale.ROOT, "0x%08xu", number);
    }

    private static String bytes(Bytes bytes) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < bytes.size(); i++) {
            out.append(i == 0 ? "" : ", ").append(String.format(Locale.ROOT, "0x%02x", bytes.get(i) & 0xff));
        }
        return out.toString();
    }

    /** The functions of the models, which call those of the region that runs. */
    private static String calls(ModelInterface models) {
        StringBuilder out = new StringBuilder(LICENCE).append("#include \"kiln_slots.h\"\n");
        out.append(models.functions().stream()
                .map(function -> "#include \"" + function.names().header() + "\"\n")
                .distinct()
                .collect(Collectors.joining()));
        int number = 0;
        for (ModelInterface.Function function : models.functions()) {
            String inputs = function.names().struct(Side.INPUTS) + "*";
            String outputs = function.names().struct(Side.OUTPUTS) + "*";
            boolean takes = function.takesTensors();
            out.append("\nint32_t " + function.name() + "("
                            + (takes ? inputs + " inputs, " + outputs + " outputs" : "void") + ") {\n")
                    .append("  typedef int32_t (*function)(" + (takes ? inputs + ", " + outputs : "void") + ");\n")
                    .append("  uintptr_t address = kiln_slots_function(" + number++ + "u);\n")
                    .append("  return address == 0u ? KILN_NO_MODEL : ((function)address)("
                            + (takes ? "inputs, outputs" : "") + ");\n}\n");
        }
        return out.toString();
    }

    private static String slot(ModelRegion first) {
        ByteBuffer words = first.bytes().buffer().order(ByteOrder.LITTLE_ENDIAN);
        StringBuilder out = new StringBuilder(LICENCE);
        out.append("#include <stdint.h>\n\n/* The models in version " + first.version()
                + ", linked for the first slot. */\n"
                + "__attribute__((section(\".rodata.kiln.slot\"), used)) static const uint32_t first_slot["
                + words.remaining() / Integer.BYTES + "] = {");
        for (int i = 0; words.hasRemaining(); i++) {
            out.append(i % WORDS_PER_LINE == 0 ? "\n    " : " ")
                    .append(hex(Integer.toUnsignedLong(words.getInt())))
                    .append(',');
        }
        return out.append("\n};\n").toString();
    }

    /** The script that links models for a slot: header, code and constants there, variables in the models' RAM. */
    static String script(long address, ModelSlots slots, long memoryBytes) {
        return ResourceTree.read("templates/slots")
                .get("kiln_region.ld")
                .text()
                .replace("@ADDRESS@", hex(address).replace("u", ""))
                .replace("@BYTES@", Long.toString(slots.bytes()))
                .replace("@MEMORY@", hex(slots.memory()).replace("u", ""))
                .replace("@MEMORY_BYTES@", Long.toString(memoryBytes))
                .replace("@HEADER_BYTES@", Integer.toString(ModelRegion.HEADER_BYTES));
    }
}
