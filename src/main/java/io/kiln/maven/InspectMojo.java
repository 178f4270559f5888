// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import java.io.File;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Shows a model, an archive or an image: operators, shapes, sizes and memory use.
 *
 * @since 0.1.0
 */
@Mojo(name = "inspect", requiresProject = false, threadSafe = true)
public final class InspectMojo extends AbstractByHandMojo {
    /**
     * Skips this goal.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.inspect.skip", defaultValue = "false")
    private boolean skipInspect;

    /**
     * The file to show: a model, a Model Library Format archive or an ELF image. If not set, {@code kiln.model} or the
     * project's own model, and the files built from it.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.file")
    private File file;

    @Override
    boolean isGoalSkipped() {
        return skipInspect;
    }

    @Override
    void run() {
        flow().inspect(spec(), file == null ? Optional.empty() : Optional.of(file.toPath()), inputShapes());
    }
}
