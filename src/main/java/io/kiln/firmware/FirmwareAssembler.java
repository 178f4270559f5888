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
import io.kiln.base.Problem;
import io.kiln.base.ResourceTree;
import io.kiln.base.WholeFiles;
import io.kiln.firmware.CodeLibrary.UserSources;
import io.kiln.firmware.OwnParts.InterruptTable;
import io.kiln.firmware.app.DefaultApplication.Application;
import io.kiln.npu.DriverPayload;
import io.kiln.npu.NpuConfiguration;
import io.kiln.npu.NpuConfiguration.Product;
import io.kiln.process.Command.ShellWords;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.BoardNpu;
import io.kiln.toolchain.compiler.SourceKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
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

    /**
     * The files for models that run on a board's Ethos-U: the hooks around Arm's driver, which the project brings, or a model of the NPU in its place.
     * Images without such models have none of them.
     */
    static final class NpuSources {
        private static final String FOLDER = "npu";
        private static final String HOOKS = "kiln_npu.c";
        private static final String SETTINGS = "kiln_npu.h";
        private static final String DRIVER = "ethosu_driver.h";

        /** A function that firmware with hooks of its own defines. */
        private static final String OWN_HOOKS = "TVMDeviceEthosUActivate";

        private NpuSources() {}

        /**
         * The files by their path in the C project; none if no model needs them, or if the project has hooks of its own.
         *
         * @param user the project's own code
         * @throws KilnException if a model was compiled for another NPU, or there is no driver
         */
        static SortedMap<String, Bytes> files(FirmwareRequest request, SortedMap<String, Bytes> user) {
            SortedMap<String, Bytes> files = new TreeMap<>();
            List<Artifact> streams = request.models().stream()
                    .flatMap(model -> model.artifacts().artifacts().stream())
                    .filter(artifact -> artifact.loader().equals(BoardNpu.CODEGEN))
                    .toList();
            Board board = request.board();
            boolean hasHooks =
                    user.values().stream().anyMatch(content -> content.text().contains(OWN_HOOKS));
            if (streams.isEmpty() || board.npu().isEmpty() || hasHooks) {
                return files;
            }
            BoardNpu npu = board.npu().get();
            Settings settings = new Settings(
                    board,
                    npu,
                    configuration(board, npu, streams),
                    "../" + (npu.isModel() ? FOLDER + "/" + DRIVER : driver(board, npu, user)),
                    request.application() != Application.RPC);
            if (npu.isModel()) {
                ResourceTree.read(FOLDER).forEach((name, content) -> files.put(FOLDER + "/" + name, content));
            }
            files.put(
                    ProjectFiles.BOARD + "/" + HOOKS,
                    ResourceTree.read("ethosu").get(HOOKS));
            files.put(ProjectFiles.BOARD + "/" + SETTINGS, Bytes.ofText(settings.text()));
            return files;
        }

        /**
         * The request for an image in which a model of the NPU comes before the driver of the project's, whose objects are linked, too: the first
         * definition counts.
         */
        static FirmwareRequest overDriver(FirmwareRequest request, SortedMap<String, Bytes> user) {
            boolean isModel = request.board().npu().filter(BoardNpu::isModel).isPresent();
            return isModel && user.keySet().stream().anyMatch(name -> name.endsWith("/" + DRIVER))
                    ? request.linkedWith(List.of("-Wl,-z,muldefs"))
                    : request;
        }

        /** How the files are compiled: the hooks include the header of a driver that is the user's. */
        static SourceKind kind(Board board) {
            return board.npu().filter(npu -> !npu.isModel()).isPresent() ? SourceKind.USER : SourceKind.OWN;
        }

        /** The header of the project's driver. */
        private static String driver(Board board, BoardNpu npu, SortedMap<String, Bytes> user) {
            return user.keySet().stream()
                    .filter(name -> name.endsWith("/" + DRIVER))
                    .min(Comparator.comparingInt(String::length).thenComparing(name -> name))
                    .orElseThrow(() -> Failure.CODE.exception(
                            "a model runs on the board's " + npu.configuration() + ", and there is no driver of it",
                            "board " + board.id(),
                            "Arm's core driver for Ethos-U, whose " + DRIVER
                                    + " lies in src/main/c or in a library of C",
                            "Add it, or define " + OWN_HOOKS + " and the other hooks yourself"));
        }

        /** The configuration that all streams are for. On hardware it is the board's: archives may come from other boards. */
        private static NpuConfiguration configuration(Board board, BoardNpu npu, List<Artifact> streams) {
            Optional<NpuConfiguration> first = Optional.empty();
            for (Artifact stream : streams) {
                NpuConfiguration own = DriverPayload.read(
                                stream.content(),
                                (what, expected) -> Failure.ARCHIVE.exception(what, stream.fileName(), expected))
                        .configuration();
                String expected = npu.isModel() ? first.orElse(own).name() : npu.configuration();
                if (!own.name().equals(expected)) {
                    throw Failure.BOARD.exception(
                            "the model was compiled for an " + own.name() + ", and the NPU is an " + expected,
                            stream.fileName(),
                            "models for " + expected,
                            "Run Vela with --accelerator-config " + expected);
                }
                if (npu.isModel() && own.product() == Product.U85) {
                    throw new KilnException(noModel(board, own));
                }
                first = Optional.of(first.orElse(own));
            }
            return first.orElseThrow();
        }

        private static Problem noModel(Board board, NpuConfiguration own) {
            return Failure.BOARD.problem(
                    "there is no model of an " + own.name(),
                    "board " + board.id(),
                    "a board that has one; only that can show what it computes",
                    "Choose one with kiln.board");
        }

        /**
         * What the hooks are compiled with.
         *
         * @param driver the path of the driver's header from the hooks
         * @param tells whether the model may write to the console
         */
        private record Settings(
                Board board, BoardNpu npu, NpuConfiguration configuration, String driver, boolean tells) {
            String text() {
                StringBuilder text = new StringBuilder(
                                "/* SPDX-License-Identifier: Apache-2.0\n *\n * The NPU of the board ")
                        .append(board.id())
                        .append(". Written by Kiln.\n */\n#ifndef KILN_NPU_H\n#define KILN_NPU_H\n");
                define(text, "DRIVER", '"' + driver + '"');
                define(text, "BASE", String.format(Locale.ROOT, "0x%08xu", npu.base()));
                define(text, "SECURE", npu.isSecure() ? "1" : "0");
                if (npu.isModel()) {
                    define(text, "MODEL", String.format(Locale.ROOT, "0x%08xu", configuration.word()));
                    if (tells) {
                        define(text, "TELLS", "1");
                    }
                } else {
                    npu.irq().ifPresent(irq -> {
                        define(text, "IRQ", irq + "u");
                        define(text, "HANDLER", handler(irq));
                    });
                }
                return text.append("#endif\n").toString();
            }

            private String handler(int irq) {
                return InterruptTable.handler(board, irq)
                        .orElseThrow(() -> Failure.BOARD.exception(
                                "interrupt " + irq + " of the NPU has no handler",
                                "board " + board.id(),
                                "its name in " + InterruptTable.LIST,
                                "Correct npu.irq, or the list"));
            }

            private static void define(StringBuilder text, String name, String value) {
                text.append("#define KILN_NPU_")
                        .append(name)
                        .append(' ')
                        .append(value)
                        .append('\n');
            }
        }
    }
}
