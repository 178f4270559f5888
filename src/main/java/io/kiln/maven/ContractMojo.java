// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.contract.ContractStep;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.maven.session.MojoLog;
import java.io.File;
import java.util.List;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Writes Java classes for a service that feeds boards: what a model takes and gives, conversions of real numbers to bytes and back, and a client
 * for images. They are compiled with the project's own classes.
 *
 * @since 0.1.0
 */
@Mojo(name = "contract", defaultPhase = LifecyclePhase.GENERATE_SOURCES, threadSafe = true)
public final class ContractMojo extends AbstractBuildMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.contract.skip", defaultValue = "false")
    private boolean skipContract;

    /** Package of the classes. */
    @Parameter(property = "kiln.contract.package", defaultValue = "${project.groupId}")
    private String contractPackage;

    /** Root of the source code that is written. */
    @Parameter(
            property = "kiln.contract.directory",
            defaultValue = "${project.build.directory}/generated-sources/kiln-contract")
    private File contractDirectory;

    /**
     * Whether there is a client for each model, which runs it on an image over the console or RPC. Clients need this plugin's artifact among the
     * project's dependencies; the other classes need nothing.
     */
    @Parameter(property = "kiln.contract.clients", defaultValue = "true")
    private boolean contractClients;

    /** Output folder, if this is no project of packaging {@code firmware}. */
    @Parameter(property = "kiln.outputDirectory", defaultValue = "kiln-out")
    private File outputDirectory;

    @Override
    boolean isGoalSkipped() {
        return skipContract;
    }

    @Override
    boolean isAboutOneModel() {
        return true;
    }

    @Override
    Layout layout(List<ModelSource> sources) {
        return byHand(outputDirectory, sources);
    }

    @Override
    void run() {
        new ContractStep(new MojoLog(getLog()), spec())
                .run(contractDirectory.toPath(), contractPackage, contractClients);
        project().addCompileSourceRoot(contractDirectory.getPath());
    }
}
