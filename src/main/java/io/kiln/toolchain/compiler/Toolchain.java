// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.artifact.ObjectCompiler;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.base.ResourceTree;
import io.kiln.base.WholeFiles;
import io.kiln.base.WholeFiles.TemporaryFolder;
import io.kiln.base.incremental.Inputs;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.toolchain.compiler.Toolchain.CompilerDescriptor.FlagSets;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * An existing compiler driver with the flags for one core.
 *
 * @param id id of its descriptor
 * @param title one line for people
 * @param driver the program
 * @param cpu the core, as in the target string
 * @param shims whether Kiln's C library shims are part of the firmware
 * @param flags its flags, those of the core included
 * @param objectCache folder of this very compiler for objects that all projects share; empty if they shall share none
 */
public record Toolchain(
        String id,
        String title,
        CompilerDriver driver,
        String cpu,
        boolean shims,
        FlagSets flags,
        Optional<Path> objectCache) {
    private static final String HEADERS = "-isystem";

    /** First line of the version output. */
    public String version() {
        return driver.version();
    }

    /** The driver in command lines: a name if the PATH has it, otherwise an absolute path. */
    public String compiler() {
        return driver.command();
    }

    /** Folder of a compiler that is not part of the system; its path must not appear in an image. */
    public Optional<Path> home() {
        return driver.home();
    }

    /** Flags of every link, those of the core included. */
    public List<String> link() {
        return flags.link();
    }

    /** Arguments after the objects of a link. */
    public List<String> libraries() {
        return flags.libraries();
    }

    /** Flags to compile a source, without driver, include folders and file names. */
    public List<String> compileFlags(SourceKind kind, Optimize choice) {
        // The C library's headers are the next ones after those of C++ with the same names.
        boolean isCplusplus = kind == SourceKind.CPLUSPLUS;
        List<String> all = new ArrayList<>(isCplusplus ? flags.sources().get(kind) : List.of());
        all.addAll(flags.compile());
        all.addAll(flags.optimize().get(goal(kind, choice)));
        all.addAll(isCplusplus ? List.of() : flags.sources().get(kind));
        home().ifPresent(folder -> all.add("-ffile-prefix-map=" + folder + "=" + id));
        return List.copyOf(all);
    }

    /** The user's own code is no kernel: unrolled and vectorised, its loops have no place for a breakpoint, and are larger. */
    private static Optimize goal(SourceKind kind, Optimize choice) {
        return kind == SourceKind.SMALL
                ? Optimize.SIZE
                : kind.isUsers() && choice == Optimize.SPEED ? Optimize.RAM : choice;
    }

    /** The same toolchain with another folder of shared objects, or none. */
    public Toolchain withObjectCache(Optional<Path> folder) {
        return new Toolchain(id, title, driver, cpu, shims, flags, folder);
    }

    /** The same toolchain, for untrusted code that a bundled clang preprocesses. */
    Toolchain preprocessedBy(Toolchain clang) {
        CompilerDriver.Preprocessor preprocessor =
                new CompilerDriver.Preprocessor(clang.compiler(), clang.home().orElseThrow());
        CompilerDriver both =
                new CompilerDriver(driver.command(), driver.version(), driver.home(), Optional.of(preprocessor));
        return new Toolchain(id, title, both, cpu, shims, flags, objectCache);
    }

    Toolchain with(GnuLibrary library) {
        List<String> compile = new ArrayList<>(flags.compile());
        compile.add("-ftls-model=local-exec");
        for (Path folder : library.headers()) {
            compile.addAll(List.of(HEADERS, folder.toString(), "-ffile-prefix-map=" + folder + "=libc"));
        }
        List<String> archives = new ArrayList<>(libraries());
        archives.add("-Wl,--start-group");
        library.archives().forEach(archive -> archives.add(archive.toString()));
        archives.add("-Wl,--end-group");
        return new Toolchain(id, title, driver, cpu, false, flags.withLibrary(compile, archives), objectCache);
    }

    /** The same toolchain with folders of C++ headers, which stand before those of C. */
    Toolchain withCplusplus(List<Path> folders) {
        List<String> more = new ArrayList<>();
        for (Path folder : folders) {
            more.addAll(List.of(HEADERS, folder.toString(), "-ffile-prefix-map=" + folder + "=c++"));
        }
        return new Toolchain(id, title, driver, cpu, shims, flags.withCplusplus(more), objectCache);
    }

    /** Whether it has headers of a C++ library but none of a C library that those could include. */
    public boolean isFreestandingCplusplus() {
        return shims && flags.sources().get(SourceKind.CPLUSPLUS).contains(HEADERS);
    }

    /** Whether it makes executables for this computer. */
    public boolean isHost() {
        return cpu.equals(TargetOptions.HOST);
    }

    /**
     * The program that compiles and links.
     *
     * @param command the driver in command lines: a name if the PATH has it, otherwise an absolute path
     * @param version first line of its version output
     * @param home folder of a compiler that is not part of the system; its path must not appear in an image
     * @param preprocessor the bundled clang, which preprocesses untrusted code for this computer's compiler; empty if there is no such code
     */
    public record CompilerDriver(
            String command, String version, Optional<Path> home, Optional<Preprocessor> preprocessor) {
        /** A driver that preprocesses what it compiles. */
        public CompilerDriver(String command, String version, Optional<Path> home) {
            this(command, version, home, Optional.empty());
        }

        /**
         * A clang that only preprocesses.
         *
         * @param command absolute path of the driver
         * @param home folder of the compiler, with its headers
         */
        public record Preprocessor(String command, Path home) {}
    }

    /**
     * Makes objects with the bundled clang, with the flags that C of the same core is compiled with. Headers of the C library are those of Kiln's
     * shims: they declare standard functions only, so that objects link with every C library.
     */
    public static final class ClangObjects implements ObjectCompiler, Inputs {
        private static final String HEADERS = "include";
        private static final String OBJECT = "object.o";

        /**
         * Links a module of C into another one. What it brings is internal there, as static functions are; whatever LLVM does to C, it
         * does afterwards.
         */
        private static final String LINK = "-mlink-builtin-bitcode";

        private final String target;
        private final Toolchain clang;
        private final List<String> more;
        private final List<String> flags;

        private ClangObjects(String target, Toolchain clang, Optimize optimize, List<String> more) {
            this.target = target;
            this.clang = clang;
            this.more = List.copyOf(more);
            this.flags = flags(target, clang, optimize, more);
        }

        /**
         * The compiler for a target.
         *
         * @param target target string of kind llvm; its triple, if it has one, takes the place of the core's
         * @param more flags beside the core's
         * @throws KilnException if clang is missing, or does not know the target
         */
        public static ClangObjects of(
                String target, Optimize optimize, List<String> more, ToolchainEnvironment environment) {
            Toolchain clang = Toolchains.forObjects(TargetOptions.parse(target), environment);
            ClangObjects compiler = new ClangObjects(target, clang, optimize, more);
            compiler.check();
            return compiler;
        }

        private static List<String> flags(String target, Toolchain clang, Optimize optimize, List<String> more) {
            List<String> flags = new ArrayList<>(clang.compileFlags(SourceKind.OWN, optimize));
            String triple = TargetOptions.parse(target).mtriple();
            if (!triple.isEmpty()) {
                flags.add("--target=" + triple);
            }
            flags.addAll(more);
            // Objects name no folder of this computer.
            flags.addAll(List.of("-g0", "-Wno-unused-command-line-argument", "-nostdlibinc", "-isystem", HEADERS));
            return List.copyOf(flags);
        }

        /** The same compiler with another goal of optimization. */
        public ClangObjects optimizing(Optimize optimize) {
            return new ClangObjects(target, clang, optimize, more);
        }

        /** The inputs of an object: version and flags of clang; where clang lies on this computer does not count. */
        @Override
        public Object inputs() {
            String home = clang.home().map(Path::toString).orElse("");
            return Stream.concat(Stream.of(clang.version()), flags.stream())
                    .map(word -> home.isEmpty() ? word : word.replace(home, ""))
                    .toList();
        }

        private void check() {
            ProcessResult result = TemporaryFolder.use("kiln-objects", folder -> {
                WholeFiles.write(folder.resolve("empty.ll"), "source_filename = \"empty.ll\"\n");
                return run(folder, module("empty.ll"));
            });
            if (!result.succeeded()) {
                throw Failure.TOOL.exception(
                        "clang does not know the target: " + result.message(),
                        "target `" + target + "`",
                        "a -mtriple of LLVM that fits -mcpu, or none",
                        "Leave -mtriple out, or begin the target with c");
            }
        }

        @Override
        public Bytes compileModule(String name, String module, Optional<String> called) {
            String file = name.replaceFirst("\\.o$", ".ll");
            return TemporaryFolder.use("kiln-objects", folder -> {
                WholeFiles.write(folder.resolve(file), module);
                List<String> line = module(file);
                if (called.isPresent()) {
                    shims(folder);
                    WholeFiles.write(folder.resolve("called.c"), called.get());
                    List<String> bitcode = List.of("-w", "-emit-llvm", "-Xclang", "-disable-llvm-passes");
                    demand(name, run(folder, concat(bitcode, List.of("-c", "called.c", "-o", "called.bc"))));
                    line = concat(line, List.of("-Xclang", LINK, "-Xclang", "called.bc"));
                }
                return object(name, folder, line);
            });
        }

        @Override
        public Bytes compileC(String name, String source, Map<String, Bytes> headers) {
            String file = name.replaceFirst("\\.o$", ".c");
            return TemporaryFolder.use("kiln-objects", folder -> {
                shims(folder);
                WholeFiles.write(folder.resolve(HEADERS), headers);
                WholeFiles.write(folder.resolve(file), source);
                return object(name, folder, List.of("-iquote", HEADERS, "-c", file, "-o", OBJECT));
            });
        }

        private static List<String> module(String file) {
            return List.of("-Wno-override-module", "-x", "ir", "-c", file, "-o", OBJECT);
        }

        private Bytes object(String name, Path folder, List<String> arguments) {
            demand(name, run(folder, arguments));
            return WholeFiles.read(folder.resolve(OBJECT));
        }

        private ProcessResult run(Path folder, List<String> arguments) {
            return ProcessRunner.run(
                    Command.of(clang.compiler(), concat(flags, arguments)).in(folder));
        }

        private void demand(String name, ProcessResult result) {
            if (!result.succeeded()) {
                throw Failure.TOOL.exception(
                        "clang makes no object: " + result.message(), name + " for target `" + target + "`");
            }
        }

        private static void shims(Path folder) {
            WholeFiles.write(folder.resolve(HEADERS), ResourceTree.read("shims/include"));
        }

        private static List<String> concat(List<String> first, List<String> second) {
            List<String> all = new ArrayList<>(first);
            all.addAll(second);
            return all;
        }
    }

    /**
     * The C library of a GNU toolchain for one core, for another compiler of the same core: the folders of its headers and
     * the archives that a link takes. The toolchain's driver is asked for both, because distributions put them in different
     * places.
     *
     * @param headers folders of headers, in order
     * @param archives the library, the mathematical functions and the compiler's own
     */
    record GnuLibrary(List<Path> headers, List<Path> archives) {
        /** The library of system calls that all fail; the firmware has its own. */
        private static final String NO_SYSTEM = "nosys";

        /** The first member of an archive with symbols is named with a slash. */
        private static final String TABLE_OF_SYMBOLS = "!<arch>\n/ ";

        /** Where the table's content begins, with the number of symbols: behind the mark and the member's header of 60 bytes. */
        private static final int TABLE_CONTENT = 68;

        private static final String BEGIN_OF_SEARCH = "#include <...> search starts here:";
        private static final String END_OF_SEARCH = "End of search list.";

        GnuLibrary {
            headers = List.copyOf(headers);
            archives = List.copyOf(archives);
        }

        /**
         * Asks a toolchain for its C library.
         *
         * @throws KilnException if it has no C library for the core, with the package that has one
         */
        static GnuLibrary of(Toolchain gnu) {
            List<Path> headers = headers(gnu);
            List<Path> archives = archives(gnu);
            if (headers.isEmpty() || archives.stream().noneMatch(GnuLibrary::isC)) {
                throw Failure.TOOL.exception(
                        "there is no C library for " + gnu.cpu() + " in the toolchain " + gnu.compiler(),
                        "kiln.libc",
                        "newlib-nano or picolibc",
                        "Get it with: apt-get install libnewlib-arm-none-eabi picolibc-riscv64-unknown-elf");
            }
            return new GnuLibrary(headers, archives);
        }

        /** The folders of a toolchain's C++ headers, in order; empty if it has none. */
        static List<Path> cplusplus(Toolchain gnu) {
            return searched(gnu, "c++").stream()
                    .filter(folder -> folder.toString().contains("c++"))
                    .toList();
        }

        private static boolean isC(Path archive) {
            return archive.getFileName().toString().startsWith("libc");
        }

        /** The search folders that hold the library's headers; the compiler has others of its own. */
        private static List<Path> headers(Toolchain gnu) {
            return searched(gnu, "c").stream()
                    .filter(folder -> Files.isRegularFile(folder.resolve("stdio.h")))
                    .toList();
        }

        private static List<Path> searched(Toolchain gnu, String language) {
            List<Path> folders = new ArrayList<>();
            boolean isSearched = false;
            for (String line : said(gnu, gnu.flags().compile(), List.of("-E", "-v"), language)
                    .lines()
                    .toList()) {
                if (line.equals(BEGIN_OF_SEARCH)) {
                    isSearched = true;
                } else if (line.equals(END_OF_SEARCH)) {
                    isSearched = false;
                } else if (isSearched) {
                    folders.add(Path.of(line.strip()).normalize());
                }
            }
            return folders;
        }

        /** The archives that the driver would pass to the linker. */
        private static List<Path> archives(Toolchain gnu) {
            List<Path> folders = new ArrayList<>();
            Set<String> names = new LinkedHashSet<>();
            List<String> flags =
                    Stream.concat(gnu.link().stream(), gnu.libraries().stream()).toList();
            for (String word : said(gnu, flags, List.of("-###"), "c").strip().split("\\s+", -1)) {
                String plain = word.replace("\"", "");
                if (plain.startsWith("-L")) {
                    folders.add(Path.of(plain.substring(2)).normalize());
                } else if (plain.matches("-l[a-z_0-9]+") && !plain.equals("-l" + NO_SYSTEM)) {
                    names.add("lib" + plain.substring(2) + ".a");
                }
            }
            return names.stream().flatMap(name -> find(folders, name).stream()).toList();
        }

        private static Optional<Path> find(List<Path> folders, String name) {
            return folders.stream()
                    .map(folder -> folder.resolve(name))
                    .filter(Files::isRegularFile)
                    .filter(GnuLibrary::hasSymbols)
                    .findFirst();
        }

        /** Whether an archive's table of symbols, its first member, has any: without them it has nothing to link, and may be of another machine. */
        private static boolean hasSymbols(Path archive) {
            try (InputStream in = Files.newInputStream(archive)) {
                byte[] begin = in.readNBytes(TABLE_CONTENT + Integer.BYTES);
                return begin.length == TABLE_CONTENT + Integer.BYTES
                        && new String(begin, StandardCharsets.US_ASCII).startsWith(TABLE_OF_SYMBOLS)
                        && ByteBuffer.wrap(begin).getInt(TABLE_CONTENT) > 0;
            } catch (IOException e) {
                throw FileFailure.of("cannot read", archive, e);
            }
        }

        /** The driver's output for an empty source. */
        private static String said(Toolchain gnu, List<String> flags, List<String> question, String language) {
            List<String> line = new ArrayList<>(List.of(gnu.compiler()));
            line.addAll(flags);
            line.addAll(question);
            line.addAll(List.of("-x", language, "-"));
            ProcessResult result = ProcessRunner.run(
                    Command.ofLine(line).reading(Bytes.ofText("")).within(Duration.ofSeconds(60)));
            if (!result.succeeded()) {
                throw Failure.TOOL.exception(
                        "the compiler does not tell where its C library is: " + result.message(),
                        gnu.compiler(),
                        "a GNU compiler with newlib-nano or picolibc");
            }
            return result.errors();
        }
    }

    /**
     * The content of a compiler descriptor; {@code toolchains/schemas/compiler.schema.json} explains the keys.
     *
     * @param shims whether Kiln's own C library shims replace the toolchain's library
     */
    record CompilerDescriptor(
            String id,
            String title,
            boolean shims,
            Optional<Bundle> bundle,
            FlagSets flags,
            Map<String, Family> families) {

        /**
         * A Maven artifact that contains the compiler.
         *
         * @param sha256 digest of the artifact for each classifier, in lower-case hexadecimal
         */
        record Bundle(
                String groupId,
                String artifactId,
                String version,
                int fetchMegabytes,
                int diskMegabytes,
                Map<String, String> sha256) {
            Bundle {
                sha256 = Map.copyOf(sha256);
            }
        }

        /** Cores that one driver compiles for. */
        record Family(
                String compiler,
                String install,
                List<String> flags,
                List<String> link,
                Map<String, List<String>> cpus) {}

        /** The family that contains this core. */
        Optional<Family> familyOf(String cpu) {
            return families.values().stream()
                    .filter(family -> family.cpus().containsKey(cpu))
                    .findFirst();
        }

        /** All cores of the descriptor, sorted. */
        TreeSet<String> cpus() {
            TreeSet<String> names = new TreeSet<>();
            families.values().forEach(family -> names.addAll(family.cpus().keySet()));
            return names;
        }

        /**
         * Flags of a compiler driver.
         *
         * @param compile flags of every compilation
         * @param sources flags by kind of source
         * @param optimize flags by optimization goal
         * @param link flags of every link
         * @param libraries arguments after the objects of a link
         */
        public record FlagSets(
                List<String> compile,
                Map<SourceKind, List<String>> sources,
                Map<Optimize, List<String>> optimize,
                List<String> link,
                List<String> libraries) {
            public FlagSets {
                compile = List.copyOf(compile);
                sources = Map.copyOf(sources);
                optimize = Map.copyOf(optimize);
                link = List.copyOf(link);
                libraries = List.copyOf(libraries);
            }

            FlagSets with(List<String> compilation, List<String> linking) {
                return new FlagSets(compilation, sources, optimize, linking, libraries);
            }

            /** The same sets with further flags of C++. */
            FlagSets withCplusplus(List<String> more) {
                Map<SourceKind, List<String>> others = new EnumMap<>(sources);
                others.put(
                        SourceKind.CPLUSPLUS,
                        Stream.concat(more.stream(), sources.get(SourceKind.CPLUSPLUS).stream())
                                .toList());
                return new FlagSets(compile, others, optimize, link, libraries);
            }

            /** The same sets with other flags of every compilation and other libraries. */
            FlagSets withLibrary(List<String> compilation, List<String> archives) {
                return new FlagSets(compilation, sources, optimize, link, archives);
            }
        }
    }
}
