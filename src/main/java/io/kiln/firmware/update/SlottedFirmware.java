// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import io.kiln.artifact.Convention;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata.Interface;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problems;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Section;
import io.kiln.firmware.CompiledObjects;
import io.kiln.firmware.ExtraCode;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareCompiler;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.UserCode;
import io.kiln.firmware.image.LoadImage;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.ModelSlots;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A firmware whose models lie in a slot of the flash and are replaced without it.
 *
 * @param request the firmware: its functions of models call those of the region that runs, and its image holds the region of the first slot
 * @param update the models for both slots, signed
 */
public record SlottedFirmware(FirmwareRequest request, UpdateFile update) {
    private static final String SCRIPT = "kiln_region.ld";

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
                false,
                Optional.of(SlotSources.FOLDER),
                SlotSources.firmware(board, models, slots, regions.get(0)),
                board.slotsLinker());
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
                    "the oldest version in the field that the models work with",
                    "");
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
                    "kiln.executor aot, kiln.interfaceApi c and kiln.io caller, compiled by this build, without a device",
                    "Leave these parameters out, or kiln.update");
        }
    }

    private static ModelRegion region(FirmwareRequest plain, ModelInterface models, SlotRequest slots, long address) {
        Board board = plain.board();
        ModelSlots place = board.slots().orElseThrow();
        long memory = board.workspace().orElseThrow().end() - place.memory();
        SortedMap<String, Bytes> files = new TreeMap<>(SlotSources.functions(models));
        files.put("board/" + SCRIPT, Bytes.ofText(SlotSources.script(address, place, memory)));
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
            throw new KilnException(Failure.MEMORY.problem(
                    "the models do not fit in a slot: they take " + content.length + " bytes",
                    elf.toString(),
                    "at most " + most + " bytes",
                    "Take a smaller model or a board with larger slots"));
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
}
