// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.base.elf.ArArchive;
import io.kiln.base.elf.ElfFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Checks the objects that were not compiled by this build: those of model libraries, and the members of the user's static libraries. Linkers
 * accept many that were compiled for another core, and their code then computes with garbage.
 */
final class ForeignObjects {
    private static final int RELOCATABLE = 1;
    private static final int TYPE_AT = 16;
    private static final int SHOWN = 4;
    private static final String ADVICE = "Compile it with the board's flags, which make -n in the C project shows";

    private final FirmwareProject project;
    private final UserNames names;
    private final ObjectAbi image;
    private final Problems problems = new Problems(Failure.LIBRARY);

    private ForeignObjects(FirmwareProject project, ObjectAbi image) {
        this.project = project;
        this.names = new UserNames(project);
        this.image = image;
    }

    /**
     * Compares all of them with what this build compiled from C: assemblers do not say how functions are called.
     *
     * @throws KilnException naming each object and library that does not fit, with both values
     */
    static void check(CompiledObjects objects) {
        FirmwareProject project = objects.project();
        Optional<Path> own = project.units().stream()
                .filter(unit -> !unit.isAssembler())
                .map(unit -> objects.files().get(unit.path()))
                .filter(ElfFile::isElf)
                .findFirst();
        if (own.isEmpty() || (project.objects().isEmpty() && project.libraries().isEmpty())) {
            return;
        }
        ForeignObjects check = new ForeignObjects(
                project, ObjectAbi.of(ElfFile.read(own.get()), own.get().toString()));
        project.objects().forEach(check::object);
        project.libraries().forEach(check::library);
        check.problems.throwIfAny();
    }

    private Bytes content(String name) {
        Path file = project.directory().resolve(name);
        try {
            return Bytes.wrap(Files.readAllBytes(file));
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }

    /** Checks the members of a static library; those that do not fit for the same reason are one problem. */
    private void library(String path) {
        String name = names.name(path);
        try {
            SortedMap<String, List<String>> unfit = new TreeMap<>();
            for (ArArchive.Member member : ArArchive.read(name, content(path))) {
                unfit(member.content(), name + "(" + member.name() + ")")
                        .ifPresent(why -> unfit.computeIfAbsent(why, each -> new ArrayList<>())
                                .add(member.name()));
            }
            unfit.forEach((why, members) -> problems.add(why, name + shown(members), "", ADVICE));
        } catch (KilnException e) {
            e.problems().forEach(problems::add);
        }
    }

    private static String shown(List<String> members) {
        String more = members.size() > SHOWN ? " and " + (members.size() - SHOWN) + " more" : "";
        return "(" + members.stream().limit(SHOWN).collect(Collectors.joining(", ")) + more + ")";
    }

    private void object(String path) {
        String name = names.name(path);
        unfit(content(path), name).ifPresent(why -> problems.add(why, name, "", ADVICE));
    }

    /** Why an object cannot be linked; empty if it can. */
    private Optional<String> unfit(Bytes content, String name) {
        Optional<String> other = otherFormat(content);
        if (other.isPresent()) {
            return other;
        }
        try {
            ElfFile elf = ElfFile.read(content, name);
            int type = elf.content().getShort(TYPE_AT);
            if (type != RELOCATABLE) {
                return Optional.of("this is ELF of type " + type + ", not an object to link, which is of type 1");
            }
            List<ObjectAbi.Difference> differences = image.differences(ObjectAbi.of(elf, name));
            return differences.isEmpty()
                    ? Optional.empty()
                    : Optional.of("it was not compiled for this image:\n"
                            + differences.stream()
                                    .map(difference -> "  " + difference.text())
                                    .collect(Collectors.joining("\n")));
        } catch (KilnException e) {
            return Optional.of(e.getMessage());
        }
    }

    /** The format of a file that is not ELF, in words; empty for ELF. */
    private static Optional<String> otherFormat(Bytes content) {
        int first = content.size() < 4 ? 0 : content.buffer().getInt(0);
        int swapped = Integer.reverseBytes(first);
        if (first == 0x7f454c46 || swapped == 0x7f454c46) {
            return Optional.empty();
        }
        boolean isBitcode =
                first == 0x4243c0de || swapped == 0x4243c0de || first == 0x0b17c0de || swapped == 0x0b17c0de;
        return Optional.of(
                isBitcode ? "this is LLVM bitcode (-flto), not an object in ELF" : "this is not an object in ELF");
    }
}
