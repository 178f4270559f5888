// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.firmware.app.Application;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Writes the C project. Equal requests give equal bytes; unchanged files keep their times. */
public final class FirmwareAssembler {
    private static final String MANIFEST = "assembled.txt";

    private FirmwareAssembler() {}

    /**
     * Writes the project and logs in one line what it contains.
     *
     * @throws KilnException if the parts do not fit together
     */
    public static FirmwareProject assemble(FirmwareRequest request, Log log) {
        check(request);
        SortedMap<String, Bytes> user = UserSources.read(request.code());
        ProjectFiles files = ProjectFiles.of(request, user);
        FirmwareProject project = new FirmwareProject(
                NpuSources.overDriver(request, user),
                files.units(),
                files.objects(),
                files.headers(),
                includes(files, request),
                linkerScript(request, files),
                files.strangers());
        FencedToolchain.check(project);
        SortedMap<String, Bytes> content = files.files();
        content.put("Makefile", Bytes.ofText(Makefile.print(project)));
        content.put("compile_commands.json", Bytes.ofText(compileCommands(project)));
        removeVanished(request, content);
        content.forEach((name, bytes) -> WholeFiles.write(request.directory().resolve(name), bytes.toArray()));
        String application = applicationName(request, files);
        log.info("Firmware project: " + content.size() + " files with " + application + " in " + request.directory());
        return project;
    }

    private static Optional<String> linkerScript(FirmwareRequest request, ProjectFiles files) {
        return request.extra()
                .linkerScript()
                .or(() -> files.hasParameters()
                        ? request.board().parametersLinker()
                        : request.board()
                                .moreLinker()
                                .filter(more -> hasNearConstants(request))
                                .or(request.board()::linker));
    }

    /** Whether a model divides its constants between two memories of the board: that of constants and a further one. */
    private static boolean hasNearConstants(FirmwareRequest request) {
        return request.models().stream()
                .flatMap(model -> model.artifacts().artifacts().stream())
                .filter(artifact -> artifact.loader().equals(Artifact.NATIVE))
                .anyMatch(artifact -> new String(artifact.content().toArray(), StandardCharsets.ISO_8859_1)
                        .contains(InterfaceNames.NEAR_SECTION));
    }

    private static String applicationName(FirmwareRequest request, ProjectFiles files) {
        if (!files.has(ProjectFiles.APPLICATION)) {
            return "the project's own main";
        }
        return switch (request.application()) {
            case RPC -> "an RPC server, for the bench only,";
            case CONSOLE -> "the default application";
            case MLPERF_TINY -> "the protocol of MLPerf Tiny";
        };
    }

    private static void check(FirmwareRequest request) {
        boolean hostBoard = request.board().isHost();
        if (hostBoard != request.toolchain().isHost()) {
            throw Failure.TARGET.exception(
                    "toolchain " + request.toolchain().id() + " compiles for "
                            + request.toolchain().cpu(),
                    "board " + request.board().id(),
                    hostBoard ? "a compiler for this computer" : "a compiler for the board's core");
        }
        if (request.buildDirectory().startsWith(request.directory())) {
            throw new IllegalArgumentException("objects must not lie in the C project");
        }
    }

    /** Folders of headers in the order of the search: the user's come first, the shims' last, like a C library's. */
    private static List<String> includes(ProjectFiles files, FirmwareRequest request) {
        List<String> includes = new ArrayList<>();
        for (CodeFolder folder : request.code().folders()) {
            if (folder.role().isSearched()) {
                Stream.of(folder.copy(), folder.copy() + "/include")
                        .filter(files::has)
                        .forEach(name -> includes.add("-I" + name));
            }
        }
        if (files.has(CodeSupport.UNIT)) {
            includes.add("-I" + CodeSupport.UNIT);
        }
        includes.add("-I" + ArchivePaths.folder(ArtifactKind.HEADER));
        request.models().stream()
                .flatMap(model -> model.artifacts().targets().keySet().stream())
                .filter(key -> !key.equals(Artifact.HOST))
                .distinct()
                .sorted()
                .map(key -> ArchivePaths.code(key, ArchivePaths.INCLUDE))
                .filter(files::has)
                .forEach(folder -> includes.add("-I" + folder));
        includes.add("-I" + ArchivePaths.RUNTIME + "/" + ArchivePaths.INCLUDE);
        includes.add("-I" + ProjectFiles.BOARD);
        if (request.application() == Application.MLPERF_TINY) {
            includes.add("-I" + ProjectFiles.APPLICATION);
        }
        request.extra().folder().ifPresent(folder -> includes.add("-I" + folder));
        for (String folder : request.brought().includes()) {
            includes.add("-isystem");
            includes.add(request.brought().folder() + "/" + folder);
        }
        if (request.toolchain().shims()) {
            includes.add("-isystem");
            includes.add(ProjectFiles.SHIMS + "/include");
        }
        for (String folder : request.brought().substitutes()) {
            includes.add("-idirafter");
            includes.add(request.brought().folder() + "/" + folder);
        }
        return includes;
    }

    /** Removes files of an earlier run that this run does not write; files of others stay. */
    private static void removeVanished(FirmwareRequest request, SortedMap<String, Bytes> content) {
        Path manifest = request.buildDirectory().resolve(MANIFEST);
        for (String name : names(manifest)) {
            Path file = request.directory().resolve(name).normalize();
            try {
                if (!content.containsKey(name) && file.startsWith(request.directory()) && Files.isRegularFile(file)) {
                    Files.delete(file);
                }
            } catch (IOException e) {
                throw FileFailure.of("cannot delete", file, e);
            }
        }
        WholeFiles.write(manifest, String.join("\n", content.keySet()) + "\n");
    }

    /** Files that an earlier run wrote; empty if their list is missing or was altered. */
    private static SortedSet<String> names(Path manifest) {
        try {
            String text = Files.isRegularFile(manifest) ? Files.readString(manifest) : "";
            return text.indexOf('\0') >= 0
                    ? new TreeSet<>()
                    : text.lines().collect(Collectors.toCollection(TreeSet::new));
        } catch (IOException e) {
            return new TreeSet<>();
        }
    }

    /** {@code compile_commands.json} for editors. The user's sources are in it twice: as the copies that are compiled, and at the place where they are edited. */
    private static String compileCommands(FirmwareProject project) {
        CommandLines lines = new CommandLines(project);
        ArrayNode entries = JsonNodeFactory.instance.arrayNode();
        for (SourceUnit unit : project.units()) {
            entries.add(entry(project, lines, unit, unit.path()));
        }
        for (SourceUnit unit : project.units()) {
            project.code()
                    .folderOf(unit.path())
                    .map(folder -> folder.edited(unit.path()).toString())
                    .ifPresent(original -> entries.add(entry(project, lines, unit, original)));
        }
        try {
            return new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValueAsString(entries) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tree of text can always be written", e);
        }
    }

    private static ObjectNode entry(FirmwareProject project, CommandLines lines, SourceUnit unit, String source) {
        String object = lines.relative(project.objectFile(unit));
        List<String> line = lines.compile(unit, source, object, Optional.empty());
        ObjectNode entry = JsonNodeFactory.instance.objectNode();
        entry.put("directory", project.directory().toString());
        entry.put("file", source);
        entry.put("output", object);
        line.forEach(entry.putArray("arguments")::add);
        return entry;
    }
}
