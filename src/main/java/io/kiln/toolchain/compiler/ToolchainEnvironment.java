// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.Digests;
import io.kiln.base.Log;
import io.kiln.process.ProcessRunner.Executables;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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
    /** The driver's name without this suffix is the prefix of its assembler's name. */
    private static final List<String> DRIVERS = List.of("gcc", "cc");

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
                ? identity(driver, version)
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

    /** A short digest of the version and of path, size and time of the driver and of the assembler that it runs; empty if they cannot be read. */
    private static Optional<String> identity(Path driver, String version) {
        try {
            Path real = driver.toRealPath();
            List<String> parts = new ArrayList<>(List.of(version, state(real)));
            String name = driver.getFileName().toString();
            Optional<String> prefix = DRIVERS.stream()
                    .filter(name::endsWith)
                    .findFirst()
                    .map(suffix -> name.substring(0, name.length() - suffix.length()));
            Optional<Path> assembler = prefix.flatMap(
                    text -> Executables.findIn(driver.toAbsolutePath().getParent(), text + "as"));
            if (assembler.isPresent()) {
                parts.add(state(assembler.get().toRealPath()));
            }
            return Optional.of(Digests.sha256(String.join("\0", parts)).substring(0, 16));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static String state(Path file) throws IOException {
        return file + "\0" + Files.size(file) + "\0"
                + Files.getLastModifiedTime(file).toMillis();
    }

    /** Gets a file from an artifact repository, through Maven's resolution. */
    @FunctionalInterface
    public interface ArtifactFetcher {
        /**
         * The local copy, fetched if necessary; offline mode, mirrors and checksums apply.
         *
         * @throws io.kiln.base.KilnException if it cannot be fetched; the message says what to do
         */
        Path fetch(String groupId, String artifactId, String version, String classifier, String extension);
    }
}
