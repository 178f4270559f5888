// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.Log;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What resolving a toolchain needs from around it.
 *
 * @param home folder that bundled compilers are unpacked into, shared by all builds of a user
 * @param gnuHomes installations to look in (they, or their {@code bin}) before the PATH, as {@code toolchains.xml} names them
 * @param fetcher gets bundled compilers
 * @param log hears what is fetched
 */
public record ToolchainEnvironment(Path home, List<Path> gnuHomes, ArtifactFetcher fetcher, Log log) {
    public ToolchainEnvironment {
        home = home.toAbsolutePath().normalize();
        gnuHomes = gnuHomes.stream()
                .map(folder -> folder.toAbsolutePath().normalize())
                .toList();
    }

    /**
     * The folder for bundled compilers: the system property {@code kiln.home}, else the environment variable
     * {@code KILN_HOME}, else {@code kiln} beside the local repository.
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
