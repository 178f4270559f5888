// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.maven.session.JsonOutput;
import java.io.File;
import java.nio.file.Path;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Shows a model, an archive, an image or a shared library: operators, shapes, sizes and memory use.
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
     * The file to show: a model, a Model Library Format archive, an ELF image or a shared library. If not set, {@code kiln.model} or the
     * project's own model, and the files built from it.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.file")
    private File file;

    /**
     * The inspector that looks at the artifacts of {@code kiln.file}, such as {@code list-functions}; {@code ?} lists those that say something
     * about them.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.inspector")
    private String inspector;

    /**
     * How it is shown: {@code text} in the log for people, {@code json} on standard output for programs ({@code mvn -q}).
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.output", defaultValue = "text")
    private String output;

    @Override
    boolean isGoalSkipped() {
        return skipInspect;
    }

    @Override
    void run() {
        Optional<Path> path = Optional.ofNullable(file).map(File::toPath);
        if (JsonOutput.isAsked(output)) {
            JsonOutput.print(flow().inspectReport(spec(), path, inputShapes(), Optional.ofNullable(inspector)));
        } else if (inspector != null && path.isPresent()) {
            flow().inspect(path.get(), inspector);
        } else {
            flow().inspect(spec(), path, inputShapes());
        }
    }
}
