// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.Optimize;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An existing compiler driver with the flags for one core.
 *
 * @param id id of its descriptor
 * @param title one line for people
 * @param version first line of its version output
 * @param compiler the driver in command lines: a name if the PATH has it, otherwise an absolute path
 * @param home folder of a compiler that is not part of the system; its path must not appear in an image
 * @param cpu the core, as in the target string
 * @param shims whether Kiln's C library shims are part of the firmware
 * @param compile flags of every compilation
 * @param sources flags by kind of source
 * @param optimize flags by optimization goal
 * @param link flags of every link, those of the core included
 * @param libraries arguments after the objects of a link
 * @param objectCache folder of this very compiler for objects that all projects share; empty if they shall share none
 */
public record Toolchain(
        String id,
        String title,
        String version,
        String compiler,
        Optional<Path> home,
        String cpu,
        boolean shims,
        List<String> compile,
        Map<SourceKind, List<String>> sources,
        Map<Optimize, List<String>> optimize,
        List<String> link,
        List<String> libraries,
        Optional<Path> objectCache) {
    public Toolchain {
        compile = List.copyOf(compile);
        sources = Map.copyOf(sources);
        optimize = Map.copyOf(optimize);
        link = List.copyOf(link);
        libraries = List.copyOf(libraries);
    }

    /** Flags to compile a source, without driver, include folders and file names. */
    public List<String> compileFlags(SourceKind kind, Optimize choice) {
        List<String> flags = new ArrayList<>(compile);
        flags.addAll(optimize.get(choice));
        flags.addAll(sources.get(kind));
        home.ifPresent(folder -> flags.add("-ffile-prefix-map=" + folder + "=" + id));
        return List.copyOf(flags);
    }

    /** The same toolchain with another folder of shared objects, or none. */
    public Toolchain withObjectCache(Optional<Path> folder) {
        return new Toolchain(
                id, title, version, compiler, home, cpu, shims, compile, sources, optimize, link, libraries, folder);
    }

    /** The same with another C library in place of Kiln's shims. */
    Toolchain with(GnuLibrary library) {
        List<String> flags = new ArrayList<>(compile);
        flags.add("-ftls-model=local-exec");
        for (Path folder : library.headers()) {
            flags.addAll(List.of("-isystem", folder.toString(), "-ffile-prefix-map=" + folder + "=libc"));
        }
        List<String> archives = new ArrayList<>(libraries);
        archives.add("-Wl,--start-group");
        library.archives().forEach(archive -> archives.add(archive.toString()));
        archives.add("-Wl,--end-group");
        return new Toolchain(
                id, title, version, compiler, home, cpu, false, flags, sources, optimize, link, archives, objectCache);
    }

    /** Whether it makes executables for this computer. */
    public boolean isHost() {
        return cpu.equals(TargetOptions.HOST);
    }
}
