// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import java.io.File;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.maven.plugins.annotations.Parameter;

/** Goals called by hand, in a project or in an empty folder. */
abstract class AbstractByHandMojo extends AbstractFirmwareMojo {
    /**
     * Output folder if there is no project of packaging {@code firmware}; {@code kiln:build} always writes here.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.outputDirectory", defaultValue = "kiln-out")
    private File outputDirectory;

    /** Whether this goal does not write to the project's own {@code target}. */
    boolean isApart() {
        return !isFirmware();
    }

    @Override
    boolean isAboutOneModel() {
        return true;
    }

    @Override
    final Layout layout(List<ModelSource> sources) {
        String base = sources.stream().map(ModelSource::name).collect(Collectors.joining("-"));
        return isApart() ? apart(outputDirectory, base.isEmpty() ? "default" : base) : projectLayout();
    }
}
