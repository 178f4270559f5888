// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.base.Log;
import io.kiln.maven.session.MojoLog;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.io.File;
import java.nio.file.Path;

/** A goal in a package of its own: of packagings that other builds use a part of, such as board profiles and models, or of a project's site. */
public abstract class AbstractPartMojo extends AbstractKilnMojo {
    /** Does the goal's work. */
    protected abstract void work();

    /** The value of {@code kiln.GOAL.skip}. */
    protected abstract boolean isSkipped();

    @Override
    final void run() {
        work();
    }

    @Override
    final boolean isGoalSkipped() {
        return isSkipped();
    }

    /**
     * Where toolchains come from.
     *
     * @param home {@code kiln.home}, null if it is not set
     */
    protected final ToolchainEnvironment toolchains(File home) {
        return environment(home);
    }

    /** Maven's log. */
    protected final Log log() {
        return new MojoLog(getLog());
    }

    /** The project's output folder. */
    protected final Path target() {
        return Path.of(project().getBuild().getDirectory());
    }

    /** The file of the project's artifact, to be written. */
    protected final Path artifact() {
        return target().resolve(project().getBuild().getFinalName() + ".zip");
    }

    /** Makes a file the project's artifact. */
    protected final void publish(Path file) {
        project().getArtifact().setFile(file.toFile());
    }
}
