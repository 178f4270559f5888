// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The classifier of this computer in native artifacts. */
final class HostPlatform {
    private static final List<String> PUBLISHED =
            List.of("linux-x86_64", "linux-arm64", "macosx-x86_64", "macosx-arm64");

    /** Loaders of programs for glibc, and the name of musl's. */
    private static final List<String> GLIBC = List.of("lib64/ld-linux-x86-64.so.2", "lib/ld-linux-aarch64.so.1");

    private static final String MUSL = "ld-musl-*";

    private HostPlatform() {}

    /**
     * The classifier, such as {@code linux-x86_64}.
     *
     * @throws KilnException if the artifact's programs do not run here, before anything is fetched
     */
    static String classifier(String artifact) {
        String system = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
        String classifier = classifier(system, System.getProperty("os.arch", "").toLowerCase(Locale.ROOT));
        refusal(artifact, classifier, hasMusl(Path.of("/"))).ifPresent(problem -> {
            throw new KilnException(problem);
        });
        return classifier;
    }

    /** Why an artifact's programs do not run on a computer; empty if they should. */
    static Optional<Problem> refusal(String artifact, String classifier, boolean hasMusl) {
        if (classifier.startsWith("windows-")) {
            return Optional.of(refusal(
                    artifact,
                    "Windows without WSL",
                    "Build in WSL 2, which is Linux. The page \"Computers\" says what is known of Windows"));
        }
        if (hasMusl) {
            return Optional.of(refusal(
                    artifact,
                    "a Linux with musl in place of glibc, such as Alpine",
                    "Take an image of Debian or Ubuntu, or -Dkiln.toolchain=gnu with compilers of your system"));
        }
        return PUBLISHED.contains(classifier)
                ? Optional.empty()
                : Optional.of(refusal(artifact, classifier, "Use -Dkiln.toolchain=gnu with compilers of your system"));
    }

    private static Problem refusal(String artifact, String computer, String next) {
        return Failure.TOOL.problem(
                "the compiler " + artifact + " is not for this computer (" + computer + ")",
                "toolchain",
                "one of " + String.join(", ", PUBLISHED),
                next);
    }

    /**
     * Whether musl is the only C library of this computer.
     *
     * @param root the root of its files
     */
    static boolean hasMusl(Path root) {
        Path libraries = root.resolve("lib");
        if (GLIBC.stream().map(root::resolve).anyMatch(Files::exists) || !Files.isDirectory(libraries)) {
            return false;
        }
        try (DirectoryStream<Path> loaders = Files.newDirectoryStream(libraries, MUSL)) {
            return loaders.iterator().hasNext();
        } catch (IOException e) {
            return false;
        }
    }

    static String classifier(String system, String architecture) {
        String name = system.startsWith("mac") ? "macosx" : system.startsWith("windows") ? "windows" : system;
        String machine = switch (architecture) {
            case "amd64", "x86_64", "x64" -> "x86_64";
            case "aarch64", "arm64" -> "arm64";
            default -> architecture;
        };
        return name + "-" + machine;
    }
}
