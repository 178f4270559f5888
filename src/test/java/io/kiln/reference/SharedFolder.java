// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Files that lie beside the project and are not part of it: golden models, texts of TVM.
 *
 * <p>A checkout without the folder runs its tests all the same: those that need it are skipped and say why. Where the folder
 * exists, a build server ({@code CI=true}) fails if something is missing in it.
 */
public final class SharedFolder {
    /** The folder beside the project. */
    public static final Path ROOT = Path.of("..", "shared");

    private SharedFolder() {}

    /** A folder in the shared folder; the test ends here if it is missing. */
    public static Path need(String name) {
        return need(ROOT, name, "true".equals(System.getenv("CI")));
    }

    static Path need(Path root, String name, boolean isBuildServer) {
        Path folder = root.resolve(name);
        if (Files.isDirectory(folder)) {
            return folder;
        }
        if (isBuildServer && Files.isDirectory(root)) {
            return fail("The shared folder is beside the project, but " + folder + " is missing.");
        }
        return abort("Skipped: this test needs " + folder + " beside the project.");
    }
}
