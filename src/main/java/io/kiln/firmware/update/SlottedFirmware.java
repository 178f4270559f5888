// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.Convention;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.InterfaceNames.Side;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata.Interface;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problems;
import io.kiln.base.ResourceTree;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Section;
import io.kiln.firmware.CompiledObjects;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareCompiler;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.FirmwareRequest.ExtraCode;
import io.kiln.firmware.SourceText;
import io.kiln.firmware.UserCode;
import io.kiln.firmware.image.ImageFiles.LoadImage;
import io.kiln.firmware.update.ModelRegion.DeviceModels.UpdateFile;
import io.kiln.firmware.update.ModelRegion.InstalledFirmware;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.ModelSlots;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A firmware whose models lie in a slot of the flash and are replaced without it.
 *
 * @param request the firmware: its functions of models call those of the region that runs, and its image holds the region of the first slot
 * @param update the models for both slots, signed
 */
public record SlottedFirmware(FirmwareRequest request, UpdateFile update) {
    private static final String SCRIPT = "kiln_region.ld";
    /** Folder in the C project. */
    static final String FOLDER = "slots";

    private static final String LICENCE = "/* SPDX-License-Identifier: Apache-2.0 */\n";
    private static final int WORDS_PER_LINE = 8;

    /**
     * Compiles and links the models for each slot.
     *
     * @param plain a firmware with the models in it
     * @param slots versions and key
     * @param folder for the projects of the regions
     * @throws KilnException if the board has no slots, or models are called in another way than by the C interface of the AOT executor
     */
    public static SlottedFirmware of(FirmwareRequest plain, SlotRequest slots, Path folder) {
        check(plain, slots);
        Board board = plain.board();
        ModelInterface models = new ModelInterface(plain.models());
        List<ModelRegion> regions = new ArrayList<>();
        for (long address : board.slots().orElseThrow().addresses()) {
            FirmwareRequest.Folders own = FirmwareRequest.Folders.in(folder.resolve("slot" + (1 + regions.size())));
            regions.add(region(plain.with(plain.content().with(UserCode.NONE)).in(own), models, slots, address));
        }
        ExtraCode code = new ExtraCode(
                false, Optional.of(FOLDER), firmware(board, models, slots, regions.get(0)), board.slotsLinker());
        return new SlottedFirmware(plain.with(plain.content().with(models.staying(), code)), new UpdateFile(regions));
    }

    private static void check(FirmwareRequest plain, SlotRequest slots) {
        Problems problems = new Problems(Failure.UPDATE);
        if (plain.board().slots().isEmpty()) {
            problems.add(
                    "the board " + plain.board().id() + " has no slots for models",
                    plain.board().origin(),
                    "pools.slots in board.yaml, and a linker script for it",
                    "Choose another board, or leave kiln.update out");
        }
        if (plain.board().id().length() >= ModelRegion.NAME_BYTES) {
            problems.add(
                    "the id of the board is too long for the header of an update: "
                            + plain.board().id(),
                    plain.board().origin(),
                    "at most " + (ModelRegion.NAME_BYTES - 1) + " characters",
                    "Choose a shorter id");
        }
        plain.models().forEach(model -> checkModel(model, problems));
        if (slots.minimumFirmware().isAbove(slots.firmware())) {
            problems.add(
                    "kiln.update.minimumFirmware is " + slots.minimumFirmware() + ", above this firmware's version "
                            + slots.firmware(),
                    "",
                    "the oldest version in the field that the models work with");
        }
        problems.throwIfAny();
    }

    private static void checkModel(ModelLibrary model, Problems problems) {
        Interface api = model.metadata().api();
        boolean isPlain = api.executor() == ExecutorKind.AOT
                && api.convention() == Convention.TYPED
                && api.io() == Io.CALLER
                && api.devices().isEmpty()
                && !model.isForeign();
        if (!isPlain) {
            problems.add(
                    "models in slots are called by the C interface with inputs and outputs of the caller",
                    "model `" + model.metadata().name() + "`",
                    "kiln.executor aot, kiln.interfaceApi c and kiln.io caller, compiled by this build, without a"
                            + " device",
                    "Leave these parameters out, or kiln.update");
        }
    }

    private static ModelRegion region(FirmwareRequest plain, ModelInterface models, SlotRequest slots, long address) {
        Board board = plain.board();
        ModelSlots place = board.slots().orElseThrow();
        long memory = board.workspace().orElseThrow().end() - place.memory();
        SortedMap<String, Bytes> files = new TreeMap<>(functions(models));
        files.put("board/" + SCRIPT, Bytes.ofText(script(address, place, memory)));
        ExtraCode code = new ExtraCode(true, Optional.empty(), files, Optional.of(SCRIPT));
        FirmwareRequest request = plain.with(plain.content().with(models.updated(), code));
        CompiledObjects objects = FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET);
        Path elf = FirmwareLinker.link(objects, request.buildDirectory(), "region", Log.QUIET)
                .elf();
        RegionHeader header = new RegionHeader(
                address,
                slots.models(),
                slots.minimumFirmware(),
                board.id(),
                models.names(),
                models.digest(),
                memory(ElfFile.read(elf), place.memory()));
        return header.before(content(elf, address, place.bytes())).signed(slots.key());
    }

    private static byte[] content(Path elf, long address, long most) {
        LoadImage load = LoadImage.of(ElfFile.read(elf));
        byte[] content = load.binary().orElse(new byte[0]);
        boolean isThere = !load.blocks().isEmpty() && load.blocks().get(0).address() == address;
        if (!isThere || content.length > most) {
            throw Failure.MEMORY.exception(
                    "the models do not fit in a slot: they take " + content.length + " bytes",
                    elf.toString(),
                    "at most " + most + " bytes",
                    "Take a smaller model or a board with larger slots");
        }
        return content;
    }

    private static RegionHeader.Memory memory(ElfFile elf, long start) {
        long end = elf.sections().stream()
                .filter(section -> section.isAllocated() && !section.hasContent() && section.size() > 0)
                .mapToLong(section -> section.address() + section.size())
                .max()
                .orElse(start);
        Optional<Section> zeroed = elf.sections().stream()
                .filter(section -> section.name().equals(".bss") && section.size() > 0)
                .findFirst();
        return new RegionHeader.Memory(
                start,
                end - start,
                zeroed.map(Section::address).orElse(start),
                zeroed.map(Section::size).orElse(0L));
    }

    /**
     * The fields of a region's header, without digest and signature.
     *
     * @param address of the slot
     * @param version of the models
     * @param minimumFirmware the oldest firmware that it works with
     * @param board id of the board
     * @param models names of the models, separated by commas
     * @param interfaceDigest 16 bytes, see {@link ModelInterface}
     * @param memory the RAM that the models use
     */
    record RegionHeader(
            long address,
            UpdateVersion version,
            UpdateVersion minimumFirmware,
            String board,
            String models,
            Bytes interfaceDigest,
            Memory memory) {
        /** Offset of the table of functions, which lies directly behind the header. */
        private static final int FUNCTIONS = ModelRegion.HEADER_BYTES;

        /**
         * The RAM that the models use.
         *
         * @param address its first byte
         * @param bytes its length
         * @param zeroed first byte of the part that is zero at the start
         * @param zeroedBytes length of that part
         */
        record Memory(long address, long bytes, long zeroed, long zeroedBytes) {}

        /**
         * The unsigned region of what was linked for a slot.
         *
         * @param linked what was linked for the slot, with room for the header in front
         */
        ModelRegion before(byte[] linked) {
            int length = (linked.length + ModelRegion.ALIGNMENT - 1) / ModelRegion.ALIGNMENT * ModelRegion.ALIGNMENT;
            ByteBuffer region = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
            region.put(linked).position(0);
            region.put(ModelRegion.MAGIC.toArray())
                    .putInt(ModelRegion.FORMAT)
                    .putInt((int) address)
                    .putInt(length)
                    .putInt(version.number())
                    .putInt(minimumFirmware.number())
                    .putInt((int) memory.address)
                    .putInt((int) memory.bytes)
                    .putInt((int) memory.zeroed)
                    .putInt((int) memory.zeroedBytes)
                    .putInt(FUNCTIONS)
                    .put(name(board))
                    .put(name(models))
                    .put(interfaceDigest.buffer());
            return ModelRegion.read(region.position(0), "region");
        }

        private static byte[] name(String text) {
            byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
            byte[] name = new byte[ModelRegion.NAME_BYTES];
            System.arraycopy(bytes, 0, name, 0, Math.min(bytes.length, name.length - 1));
            return name;
        }
    }

    /** The table of functions behind a region's header. */
    private static SortedMap<String, Bytes> functions(ModelInterface models) {
        StringBuilder out = new StringBuilder(LICENCE);
        out.append("#include <stdint.h>\n\n");
        models.functions().stream()
                .map(function -> function.names().header())
                .distinct()
                .forEach(header -> out.append("#include \"" + header + "\"\n"));
        out.append("\n/* Called through their addresses by the firmware. */\n")
                .append("__attribute__((section(\".rodata.kiln.functions\"), used)) static void (*const"
                        + " functions[])(void) = {\n");
        models.functions().forEach(function -> out.append("    (void (*)(void))" + function.name() + ",\n"));
        out.append("};\n");
        return new TreeMap<>(Map.of(FOLDER + "/kiln_functions.c", Bytes.ofText(out.toString())));
    }

    /** The C that chooses, verifies and calls regions, with the first region. */
    private static SortedMap<String, Bytes> firmware(
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
    private static String script(long address, ModelSlots slots, long memoryBytes) {
        return ResourceTree.read("templates/slots")
                .get("kiln_region.ld")
                .text()
                .replace("@ADDRESS@", hex(address).replace("u", ""))
                .replace("@BYTES@", Long.toString(slots.bytes()))
                .replace("@MEMORY@", hex(slots.memory()).replace("u", ""))
                .replace("@MEMORY_BYTES@", Long.toString(memoryBytes))
                .replace("@HEADER_BYTES@", Integer.toString(ModelRegion.HEADER_BYTES));
    }

    /**
     * How models are to be replaced in the field: key, versions and slots.
     *
     * @param key signs them
     * @param models their version
     * @param firmware version of the firmware beside them
     * @param minimumFirmware the oldest firmware that the models work with
     */
    public record SlotRequest(
            UpdateKey key, UpdateVersion models, UpdateVersion firmware, UpdateVersion minimumFirmware) {}

    /**
     * Everything that a firmware knows of its models at compile time: their functions, their tensors with types, shapes and scales, and the
     * signal processing
     * before them, which the program calls and which stays when models are updated.
     */
    record ModelInterface(List<ModelLibrary> models) {
        private static final int DIGEST_BYTES = 16;

        /**
         * A function of a model.
         *
         * @param names names of the model
         * @param takesTensors whether it runs the model; otherwise it takes nothing
         */
        record Function(InterfaceNames names, String name, boolean takesTensors) {}

        /** The functions that a firmware calls, in the order of the regions' tables. */
        List<Function> functions() {
            List<Function> functions = new ArrayList<>();
            for (ModelLibrary model : models) {
                InterfaceNames names = new InterfaceNames(model.metadata().name());
                functions.add(new Function(names, names.run(), true));
                boolean hasReset = model.artifacts().of(ArtifactKind.HEADER).stream()
                        .map(Artifact::text)
                        .anyMatch(header -> header.contains(" " + names.reset() + "("));
                if (hasReset) {
                    functions.add(new Function(names, names.reset(), false));
                }
            }
            return functions;
        }

        /** Digest of the interface: the first 16 bytes of the SHA-256 of all of it as text. */
        Bytes digest() {
            String functions = functions().stream().map(Function::name).collect(Collectors.joining(" "));
            String processing = models.stream()
                    .flatMap(ModelInterface::processing)
                    .map(file -> SourceText.withoutComments(file.text()))
                    .collect(Collectors.joining());
            byte[] all = HexFormat.of().parseHex(Digests.sha256(functions + "\n" + tensors() + processing));
            return Bytes.wrap(Arrays.copyOf(all, DIGEST_BYTES));
        }

        String tensors() {
            StringBuilder lines = new StringBuilder();
            for (ModelLibrary model : models) {
                String name = model.metadata().name();
                model.metadata().inputs().forEach(tensor -> lines.append(name + " input " + line(tensor)));
                model.metadata().outputs().forEach(tensor -> lines.append(name + " output " + line(tensor)));
            }
            return lines.toString();
        }

        /** The scale by its bits, because Java releases print some numbers differently, and devices stay in the field for longer than a release. */
        private static String line(TensorInfo tensor) {
            return tensor.cName() + " " + tensor.dtype().text() + tensor.shape() + " scale "
                    + Integer.toHexString(Float.floatToIntBits(tensor.scale())) + " zero point " + tensor.zeroPoint()
                    + "\n";
        }

        /** The C of the signal processing before a model. */
        private static Stream<Artifact> processing(ModelLibrary model) {
            String source = new InterfaceNames(model.metadata().name()).preprocessSource();
            return model.artifacts().of(ArtifactKind.SOURCE).stream()
                    .filter(file -> file.fileName().equals(source));
        }

        /** The part that stays in the firmware: the models' headers and the signal processing. */
        List<ModelLibrary> staying() {
            return models.stream()
                    .map(model -> with(
                            model,
                            Stream.concat(model.artifacts().of(ArtifactKind.HEADER).stream(), processing(model))))
                    .toList();
        }

        /** The part that lies in a slot: everything but the signal processing. */
        List<ModelLibrary> updated() {
            return models.stream()
                    .map(model -> {
                        Set<Artifact> staying = processing(model).collect(Collectors.toSet());
                        return with(
                                model, model.artifacts().artifacts().stream().filter(file -> !staying.contains(file)));
                    })
                    .toList();
        }

        private static ModelLibrary with(ModelLibrary model, Stream<Artifact> files) {
            return new ModelLibrary(model.metadata(), model.artifacts().with(files.toList()), model.origin());
        }

        /** Names of the models, separated by commas. */
        String names() {
            return models.stream().map(model -> model.metadata().name()).collect(Collectors.joining(","));
        }
    }
}
