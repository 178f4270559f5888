// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.firmware.CodeLibrary;
import java.nio.file.Path;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Packs C for several firmwares into the project's artifact, a reproducible zip: sources of {@code src/main/c}, headers of {@code
 * src/main/include}, and static libraries of {@code src/main/lib/CORE}.
 *
 * @since 0.1.0
 */
@Mojo(name = "pack-library", defaultPhase = LifecyclePhase.PACKAGE, threadSafe = true)
public final class PackLibraryMojo extends AbstractKilnMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.pack-library.skip", defaultValue = "false")
    private boolean skipPackLibrary;

    @Override
    boolean isGoalSkipped() {
        return skipPackLibrary;
    }

    @Override
    void run() {
        Path zip = projectLayout().image("zip");
        CodeLibrary.pack(folder().resolve("src").resolve("main"), zip);
        project().getArtifact().setFile(zip.toFile());
        getLog().info("Packed " + zip);
    }
}
