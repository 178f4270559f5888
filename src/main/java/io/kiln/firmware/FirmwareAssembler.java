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
import io.kiln.process.ShellWords;
import io.kiln.toolchain.compiler.SourceKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
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

    /** Prints the makefile that builds the same image, byte for byte, without Maven. */
    static final class Makefile {
        /** Placeholder for the project's path, which make knows; no flag contains it. */
        private static final String HERE = "@HERE@";

        /** Placeholder for the folder of objects, which make knows. */
        private static final String BUILD = "@BUILD@";

        /** Text that needs no quoting in make or a shell. */
        private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@+,./-]+");

        private final FirmwareProject project;
        private final CommandLines lines;

        private Makefile(FirmwareProject project) {
            this.project = project;
            this.lines = new CommandLines(project);
        }

        static String print(FirmwareProject project) {
            return new Makefile(project).text();
        }

        private String text() {
            StringBuilder out = new StringBuilder();
            out.append("# SPDX-License-Identifier: Apache-2.0\n")
                    .append("# Made by Kiln for ")
                    .append(project.board().id())
                    .append("; builds the image that Maven builds. This file is yours to use without conditions.\n")
                    .append("# Another compiler: make CC=...; another folder for objects: make BUILD=...\n\n")
                    .append("ifeq ($(origin CC),default)\nCC := ")
                    .append(words(List.of(project.toolchain().compiler())))
                    .append("\nendif\n")
                    .append(strangers())
                    .append("BUILD ?= build\nexport LC_ALL := C\n")
                    .append("# A word as the shell reads it, whatever is in it.\nquoted = '$(subst ','\\'',$(1))'\n\n");
            for (SourceKind kind : kinds()) {
                out.append(flags(kind))
                        .append(" := ")
                        .append(words(lines.compileFlags(kind, HERE)))
                        .append('\n');
            }
            out.append("LINK_FLAGS := ")
                    .append(words(lines.linkFlags(ProjectFiles.BOARD, project.linkerScript())))
                    .append('\n');
            out.append("LIBRARIES := ").append(words(lines.libraries())).append("\n\n");
            out.append("OBJECTS :=");
            project.units().forEach(unit -> out.append(" \\\n  $(BUILD)/").append(escape(unit.object())));
            project.objects().forEach(object -> out.append(" \\\n  ").append(escape(object)));
            out.append("\n");
            linked(out);
            out.append("\n.PHONY: all clean\nall: $(BUILD)/firmware.elf\n\n");
            link(out);
            project.units().forEach(unit -> rule(out, unit));
            out.append("clean:\n\trm -rf $(BUILD)\n\n-include $(OBJECTS:.o=.d)\n");
            return out.toString();
        }

        /** A comment on how the makefile treats untrusted sources differently from Maven. */
        private String strangers() {
            return project.strangers().isEmpty()
                    ? ""
                    : "# Kiln compiles a checked text of what others wrote; make compiles the sources as they are,"
                            + " with all that they may read.\n";
        }

        /** The kinds of which there are sources. */
        private List<SourceKind> kinds() {
            return project.units().stream()
                    .map(SourceUnit::kind)
                    .distinct()
                    .sorted()
                    .toList();
        }

        /** The objects, quoted for the shell; make itself cannot handle names with blanks and quotes. */
        private void linked(StringBuilder out) {
            List<String> names = Stream.concat(
                            project.units().stream().map(unit -> BUILD + unit.object()), project.objects().stream())
                    .toList();
            if (names.stream().allMatch(name -> PLAIN.matcher(name).matches())) {
                out.append("LINKED := $(OBJECTS)\n");
                return;
            }
            out.append("LINKED :=");
            names.forEach(
                    name -> out.append(" \\\n  ").append(words(List.of(name)).replace(BUILD, "$(BUILD)/")));
            out.append('\n');
        }

        private void link(StringBuilder out) {
            out.append("$(BUILD)/firmware.elf: $(OBJECTS)");
            project.libraries().forEach(library -> out.append(' ').append(escape(library)));
            project.linkerScript()
                    .ifPresent(script -> out.append(' ').append(escape(ProjectFiles.BOARD + "/" + script)));
            String line = " '-Wl,-Map=$(BUILD)/firmware.map' -o $(call quoted,$@) $(LINKED) $(LIBRARIES)";
            out.append("\n\t$(CC) $(LINK_FLAGS)").append(line);
            // The first link fails only if a memory is too small; then the constants are placed differently.
            project.board()
                    .moreLinker()
                    .ifPresent(more -> out.append(" || \\\n\t  $(CC) $(LINK_FLAGS:%.ld=")
                            .append(ProjectFiles.BOARD)
                            .append('/')
                            .append(escape(more))
                            .append(")")
                            .append(line));
            out.append("\n\n");
        }

        private void rule(StringBuilder out, SourceUnit unit) {
            String object = "$(BUILD)/" + escape(unit.object());
            out.append(object)
                    .append(": ")
                    .append(escape(unit.path()))
                    .append(" Makefile\n\t@mkdir -p \"$$(dirname $(call quoted,$@))\"\n\t$(CC) $(")
                    .append(flags(unit.kind()))
                    .append(") -MD -MP -MF $(call quoted,$(@:.o=.d)) -c $(call quoted,$<) -o $(call quoted,$@)\n\n");
        }

        private static String flags(SourceKind kind) {
            return kind.name().toUpperCase(Locale.ROOT) + "_FLAGS";
        }

        private static String words(List<String> words) {
            String text = words.stream().map(ShellWords::quote).collect(Collectors.joining(" "));
            return text.replace("$", "$$")
                    .replace("#", "\\#")
                    .replace("-prefix-map=" + HERE + "=.", "-prefix-map=$(call quoted,$(CURDIR))=.");
        }

        private static String escape(String path) {
            return path.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ");
        }
    }
}
