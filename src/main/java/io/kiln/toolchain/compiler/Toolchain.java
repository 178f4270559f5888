// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.Optimize;
import io.kiln.toolchain.compiler.CompilerDescriptor.FlagSets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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
}
