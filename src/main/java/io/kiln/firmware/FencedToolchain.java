// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.base.WholeFiles;
import io.kiln.firmware.FirmwareCompiler.Compilation;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.toolchain.compiler.SourceKind;
import io.kiln.toolchain.compiler.Toolchain;
import io.kiln.toolchain.compiler.Toolchain.CompilerDriver;
import io.kiln.toolchain.compiler.Toolchains.Libc;
import io.kiln.toolchain.fence.Dialect;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A compiler that can be fenced. The bundled clang preprocesses for both: for itself, whose assembler and linker are exactly known, and
 * for this computer's compiler, for the board {@code host}. GNU cross compilers cannot be fenced: their assembler
 * concatenates strings, has macros and exists in many versions, and their linker runs plug-ins.
 */
sealed interface FencedToolchain {
    /** Driver and flags for preprocessing. */
    List<String> preprocessing(SourceUnit unit);

    /** Extra flags for compiling preprocessed text. */
    List<String> compiling(SourceUnit unit);

    /** Whether a source may read a file, given as the compiler names it. */
    boolean mayRead(String file);

    Dialect dialect();

    /** The fenced toolchain of a project with untrusted files. */
    static FencedToolchain of(FirmwareProject project) {
        CommandLines lines = new CommandLines(project);
        if (!project.toolchain().isHost()) {
            return new Bundled(
                    project,
                    lines,
                    ClosedWorld.write(project, project.toolchain().home().orElseThrow()));
        }
        CompilerDriver.Preprocessor clang = project.toolchain()
                .driver()
                .preprocessor()
                .orElseThrow(() -> new IllegalStateException("no clang for untrusted code"));
        return new OnHost(lines, clang, ClosedWorld.write(project, clang.home()), HostMacros.of(project, lines));
    }

    /**
     * Checks that a project can be fenced, before anything is compiled.
     *
     * @throws KilnException with what to trust, or which toolchain to choose
     */
    static void check(FirmwareProject project) {
        Problems problems = new Problems(Failure.TRUST);
        Toolchain toolchain = project.toolchain();
        List<String> advice = project.strangers().advice();
        if (toolchain.isHost() && !isSealable()) {
            advice.forEach(each -> problems.add(refused(
                    "untrusted code compiled for this computer",
                    "board " + project.board().id(),
                    "Linux on x86-64 or aarch64, where it can run in a sandbox",
                    each)));
        } else if (project.code().flags().libc() != Libc.NONE && !toolchain.isHost()) {
            advice.forEach(each -> problems.add(refused(
                    "untrusted code beside a C library, whose headers are not the project's",
                    "kiln.libc",
                    Libc.NONE.text(),
                    each)));
        } else if (!toolchain.isHost() && !isBundledClang(toolchain)) {
            List<String> all = advice.isEmpty() && project.board().foreign()
                    ? List.of(project.board().trustAdvice())
                    : advice;
            all.forEach(each -> problems.add(refused(
                    "the toolchain " + toolchain.id() + " cannot compile untrusted code",
                    "kiln.toolchain",
                    "the bundled clang",
                    each)));
        }
        problems.throwIfAny();
    }

    private static Problem refused(String what, String where, String expected, String advice) {
        return Failure.TRUST.problem("refused: " + what, where, expected, advice);
    }

    private static boolean isBundledClang(Toolchain toolchain) {
        return toolchain.home().isPresent()
                && toolchain.shims()
                && toolchain.version().contains("clang");
    }

    /** Whether this computer is one whose system calls the board's {@code fence.c} knows. */
    private static boolean isSealable() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String machine = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        return system.equals("linux") && List.of("amd64", "x86_64", "aarch64").contains(machine);
    }

    /** Keeps clang from writing a source that crashes it, and a script, to the folder for temporary files. */
    String NO_REPRODUCER = "-fno-crash-diagnostics";

    /** The bundled clang. */
    record Bundled(FirmwareProject project, CommandLines lines, ClosedWorld world) implements FencedToolchain {
        @Override
        public List<String> preprocessing(SourceUnit unit) {
            List<String> line = new ArrayList<>();
            line.add(project.toolchain().compiler());
            line.addAll(lines.compileFlags(unit.kind(), project.directory().toString()));
            line.addAll(world.withFiles());
            line.add(NO_REPRODUCER);
            return line;
        }

        /** Flags for text from standard input, which has no name: debug information gets the source's. */
        @Override
        public List<String> compiling(SourceUnit unit) {
            return Stream.concat(
                            world.withNothing().stream(),
                            Stream.of(
                                    NO_REPRODUCER,
                                    "-Qunused-arguments",
                                    "-Xclang",
                                    "-main-file-name",
                                    "-Xclang",
                                    unit.path()))
                    .toList();
        }

        @Override
        public boolean mayRead(String file) {
            return world.contains(file);
        }

        @Override
        public Dialect dialect() {
            return Dialect.BOARD;
        }
    }

    /**
     * This computer's own compiler. Clang preprocesses for it with that compiler's macros, and with headers of the C library that only declare
     * functions and types of the standard: the headers of the system have what other compilers do not understand.
     */
    record OnHost(CommandLines lines, CompilerDriver.Preprocessor clang, ClosedWorld world, HostMacros macros)
            implements FencedToolchain {
        @Override
        public List<String> preprocessing(SourceUnit unit) {
            List<String> line = new ArrayList<>();
            line.addAll(List.of(clang.command(), NO_REPRODUCER, "-w", "-undef", "-nostdlibinc"));
            lines.otherFlags(unit.kind()).stream()
                    .filter(flag -> flag.startsWith("-std=") || flag.startsWith("-ffile-prefix-map="))
                    .forEach(line::add);
            line.add(withoutHome());
            line.addAll(macros.options(unit));
            line.addAll(lines.namingFlags(unit.kind()));
            line.addAll(List.of("-isystem", ProjectFiles.SHIMS + "/include"));
            line.addAll(world.withFiles());
            return line;
        }

        @Override
        public List<String> compiling(SourceUnit unit) {
            return List.of("-fno-lto", withoutHome());
        }

        private String withoutHome() {
            return "-ffile-prefix-map=" + clang.home() + "=clang";
        }

        @Override
        public boolean mayRead(String file) {
            return world.contains(file);
        }

        @Override
        public Dialect dialect() {
            return Dialect.HOST;
        }
    }

    /**
     * The macros that this computer's compiler predefines, for each kind of source. Clang gets them in place of its own, so that a source is
     * preprocessed as that compiler would do it: the same types have the same sizes, and nothing in a source is meant for clang.
     */
    final class HostMacros {
        private static final Duration LIMIT = Duration.ofSeconds(60);

        /** GCC and Clang print macros in the same format. */
        private static final Pattern MACRO = Pattern.compile("#define ([A-Za-z_][A-Za-z0-9_]*(?:\\([^)]*\\))?) ?(.*)");

        /** Operators of the preprocessor, which clang has itself. */
        private static final Pattern OPERATOR = Pattern.compile("__has_.*|defined.*");

        private final Map<Language, List<String>> options;

        private HostMacros(Map<Language, List<String>> options) {
            this.options = options;
        }

        /** What macros depend on beside the compiler: the kind of a source, which has flags, and the language that its name tells. */
        private record Language(SourceKind kind, String name) {
            static Language of(SourceUnit unit) {
                if (unit.path().endsWith(".c")) {
                    return new Language(unit.kind(), "c");
                }
                return new Language(unit.kind(), UserFile.isCplusplus(unit.path()) ? "c++" : "assembler-with-cpp");
            }
        }

        /**
         * Asks the compiler for the macros of a project's sources.
         *
         * @throws KilnException if the compiler fails
         */
        static HostMacros of(FirmwareProject project, CommandLines lines) {
            Map<Language, List<String>> options = new HashMap<>();
            project.units()
                    .forEach(unit -> options.computeIfAbsent(
                            Language.of(unit), language -> parse(print(project, lines, language))));
            return new HostMacros(options);
        }

        /** Options that define the macros for a source. */
        List<String> options(SourceUnit unit) {
            return options.get(Language.of(unit));
        }

        private static String print(FirmwareProject project, CommandLines lines, Language language) {
            List<String> line = new ArrayList<>();
            line.add(project.toolchain().compiler());
            line.addAll(lines.otherFlags(language.kind()));
            line.addAll(List.of("-x", language.name(), "-E", "-dM", "-"));
            ProcessResult result = ProcessRunner.run(Command.ofLine(line)
                    .in(project.directory())
                    .without(Compilation.MISLEADING)
                    .within(LIMIT));
            if (!result.succeeded()) {
                throw Failure.TOOL.exception(
                        "the compiler does not print its macros: " + result.message(),
                        project.toolchain().compiler());
            }
            return result.output();
        }

        private static List<String> parse(String text) {
            List<String> options = new ArrayList<>();
            for (String line : text.lines().toList()) {
                Matcher macro = MACRO.matcher(line);
                if (macro.matches() && !OPERATOR.matcher(macro.group(1)).matches()) {
                    options.add("-D" + macro.group(1) + "=" + macro.group(2));
                }
            }
            return List.copyOf(options);
        }
    }

    /**
     * The only files that the bundled clang sees while it reads untrusted code: the project's own and the compiler's
     * headers, each listed in an overlay of its file system with nothing below it. No other file of this computer exists
     * for a source, whatever path it uses, and a source cannot find out whether one does. A second overlay, for
     * preprocessed text, has no files at all.
     */
    final class ClosedWorld {
        private static final String FILES = "fence-files.json";
        private static final String NOTHING = "fence-nothing.json";

        private final FirmwareProject project;
        private final Path resources;

        private ClosedWorld(FirmwareProject project, Path resources) {
            this.project = project;
            this.resources = resources;
        }

        /**
         * Writes the overlays of a project into its folder of objects.
         *
         * @param home folder of the bundled compiler
         */
        static ClosedWorld write(FirmwareProject project, Path home) {
            ClosedWorld world = new ClosedWorld(project, headers(home));
            WholeFiles.write(world.file(FILES), overlay(world.files()));
            WholeFiles.write(world.file(NOTHING), overlay(new TreeSet<>()));
            return world;
        }

        /** Flags that make the project's files and the compiler's headers visible. */
        List<String> withFiles() {
            return List.of("-vfsoverlay", file(FILES).toString());
        }

        /** Flags that make no file visible. */
        List<String> withNothing() {
            return List.of("-vfsoverlay", file(NOTHING).toString());
        }

        /** Whether the compiler may read a file, given as the compiler names it. */
        boolean contains(String name) {
            Path path = project.directory().resolve(name).normalize();
            return path.startsWith(resources)
                    || projectFiles()
                            .contains(project.directory()
                                    .relativize(path)
                                    .toString()
                                    .replace('\\', '/'));
        }

        private Path file(String name) {
            return project.objectDirectory().resolve(name);
        }

        private Set<String> projectFiles() {
            Set<String> names = new LinkedHashSet<>(project.headers());
            project.units().forEach(unit -> names.add(unit.path()));
            return names;
        }

        /** The files that the compiler may read, with their real paths, which it may use. */
        private Set<Path> files() {
            Set<Path> files = new TreeSet<>();
            try (Stream<Path> walk = Files.walk(resources)) {
                walk.filter(Files::isRegularFile).forEach(files::add);
                for (String name : projectFiles()) {
                    files.add(project.directory().resolve(name).normalize());
                }
                List<Path> real = new ArrayList<>();
                for (Path file : files) {
                    real.add(file.toRealPath());
                }
                files.addAll(real);
            } catch (IOException e) {
                throw new UncheckedIOException("cannot list the files of " + project.directory(), e);
            }
            return files;
        }

        private static Path headers(Path home) {
            try (Stream<Path> versions = Files.list(home.resolve("lib").resolve("clang"))) {
                return versions.map(version -> version.resolve("include"))
                        .filter(Files::isDirectory)
                        .findFirst()
                        .orElseThrow(() -> Failure.TOOL.exception(
                                "the compiler's own headers are missing", home.toString(), "lib/clang/*/include"));
            } catch (IOException e) {
                throw new UncheckedIOException("cannot list " + home, e);
            }
        }

        /** An overlay of these files in clang's format, YAML, of which JSON is a subset. */
        private static String overlay(Set<Path> files) {
            ObjectNode root = JsonNodeFactory.instance.objectNode();
            root.put("version", 0);
            root.put("case-sensitive", "true");
            root.put("overlay-relative", false);
            root.put("use-external-names", false);
            root.put("redirecting-with", "redirect-only");
            ArrayNode roots = root.putArray("roots");
            for (Path file : files) {
                ObjectNode node = roots.addObject();
                node.put("type", "file");
                node.put("name", file.toString());
                node.put("external-contents", file.toString());
            }
            try {
                return new ObjectMapper().writeValueAsString(root) + "\n";
            } catch (JsonProcessingException e) {
                throw new IllegalStateException("a tree of text can always be written", e);
            }
        }
    }
}
