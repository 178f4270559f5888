// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.Log;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The environment for resolving a toolchain.
 *
 * @param home folder of unpacked compilers and of cached objects, shared by all builds of a user
 * @param gnuHomes installations searched (they, or their {@code bin}) before the PATH, from {@code toolchains.xml}
 * @param fetcher fetches bundled compilers
 * @param log gets a line when something is fetched
 * @param cachesObjects whether all projects share the objects of equal sources
 */
public record ToolchainEnvironment(
        Path home, List<Path> gnuHomes, ArtifactFetcher fetcher, Log log, boolean cachesObjects) {
    public ToolchainEnvironment {
        home = home.toAbsolutePath().normalize();
        gnuHomes = gnuHomes.stream()
                .map(folder -> folder.toAbsolutePath().normalize())
                .toList();
    }

    /** An environment in which projects share objects. */
    public ToolchainEnvironment(Path home, List<Path> gnuHomes, ArtifactFetcher fetcher, Log log) {
        this(home, gnuHomes, fetcher, log, true);
    }

    /** The same environment, in which every project compiles all of its sources. */
    public ToolchainEnvironment withoutObjectCache() {
        return new ToolchainEnvironment(home, gnuHomes, fetcher, log, false);
    }

    /** Folder for the objects of one compiler; empty if projects share none. */
    Optional<Path> objectCache(Path driver, String version) {
        return cachesObjects
                ? CompilerIdentity.of(driver, version)
                        .map(identity -> home.resolve("objects").resolve(identity))
                : Optional.empty();
    }

    /**
     * The folder of bundled compilers: the system property {@code kiln.home}, otherwise the environment variable {@code
     * KILN_HOME}, otherwise {@code kiln} beside the local repository.
     */
    public static Path defaultHome(Path localRepository) {
        return Optional.ofNullable(System.getProperty("kiln.home"))
                .or(() -> Optional.ofNullable(System.getenv("KILN_HOME")))
                .filter(text -> !text.isBlank())
                .map(Path::of)
                .orElseGet(() -> localRepository.toAbsolutePath().resolveSibling("kiln"))
                .toAbsolutePath();
    }
}
