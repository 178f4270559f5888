// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.toolchain.compiler.CompilerDescriptor.Bundle;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Unpacks a bundled compiler once for all builds. A folder is there whole or not at all: it is filled under
 * another name and renamed, under a lock that other threads and other processes respect.
 */
final class BundledCompiler {
    private BundledCompiler() {}

    /**
     * The folder with {@code bin} and {@code lib}, fetched and unpacked if it is not there yet.
     *
     * @throws KilnException if this computer is not one that the bundle is made for, or it cannot be fetched
     */
    static Path install(Bundle bundle, ToolchainEnvironment environment) {
        String classifier = HostPlatform.classifier(bundle.artifactId());
        String name = bundle.artifactId() + "-" + bundle.version() + "-" + classifier;
        Path folder = environment.home().resolve(name);
        if (Files.isDirectory(folder)) {
            return folder;
        }
        try (FolderLock lock = FolderLock.acquire(environment.home(), name)) {
            if (!Files.isDirectory(folder)) {
                fetchAndUnpack(bundle, classifier, folder, environment);
            }
            return lock.guarding(folder);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot unpack a compiler into " + folder, e);
        }
    }

    private static void fetchAndUnpack(Bundle bundle, String classifier, Path folder, ToolchainEnvironment environment)
            throws IOException {
        environment
                .log()
                .info("The compiler " + bundle.artifactId() + " " + bundle.version()
                        + " is needed once for all builds: "
                        + bundle.fetchMegabytes() + " MB to fetch (if the local repository lacks it), "
                        + bundle.diskMegabytes() + " MB on disk in " + folder);
        Path jar =
                environment.fetcher().fetch(bundle.groupId(), bundle.artifactId(), bundle.version(), classifier, "jar");
        Path part = folder.resolveSibling(folder.getFileName() + ".part");
        Folders.delete(part);
        LlvmJar.unpack(jar, part);
        if (!Files.isExecutable(part.resolve("bin").resolve(LlvmJar.program("clang")))) {
            Folders.delete(part);
            throw new KilnException(new Problem(
                    "there is no clang in the artifact",
                    jar.toString(),
                    "the artifact as published",
                    "Delete the file"));
        }
        Files.move(part, folder, StandardCopyOption.ATOMIC_MOVE);
    }
}
