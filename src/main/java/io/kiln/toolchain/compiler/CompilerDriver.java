// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import java.nio.file.Path;
import java.util.Optional;

/**
 * The program that compiles and links.
 *
 * @param command the driver in command lines: a name if the PATH has it, otherwise an absolute path
 * @param version first line of its version output
 * @param home folder of a compiler that is not part of the system; its path must not appear in an image
 * @param preprocessor the bundled clang, which preprocesses untrusted code for this computer's compiler; empty if there is no such code
 */
public record CompilerDriver(String command, String version, Optional<Path> home, Optional<Preprocessor> preprocessor) {
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
