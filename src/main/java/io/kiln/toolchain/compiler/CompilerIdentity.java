// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.Digests;
import io.kiln.process.Executables;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Tells one installed compiler from every other, without starting it. */
final class CompilerIdentity {
    /** The driver's name without this suffix is the prefix of its assembler's name. */
    private static final List<String> DRIVERS = List.of("gcc", "cc");

    private CompilerIdentity() {}

    /**
     * A short digest of the version and of path, size and time of the driver and of the assembler that it runs; empty
     * if they cannot be read.
     */
    static Optional<String> of(Path driver, String version) {
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
}
