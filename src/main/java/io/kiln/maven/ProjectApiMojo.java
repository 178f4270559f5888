// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.firmware.FirmwareRequest.ImageOptions;
import io.kiln.firmware.TrustedArchives;
import io.kiln.firmware.app.DefaultApplication.Application;
import io.kiln.flow.projectapi.TemplateStep;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ArchiveSpec;
import io.kiln.flow.spec.BuildSpec.MachineSpec;
import io.kiln.flow.spec.CompilerSpec;
import io.kiln.flow.spec.ImageSpec;
import io.kiln.flow.spec.UpdateSpec;
import io.kiln.maven.session.MojoLog;
import java.io.File;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.slf4j.LoggerFactory;

/**
 * Writes a template whose Project API server is Kiln, so that tools of microTVM generate, build and flash projects for Kiln's
 * boards and talk to them. The template refers to this computer's local repository and compilers.
 *
 * @since 0.1.0
 */
@Mojo(name = "project-api", requiresProject = false, threadSafe = true)
public final class ProjectApiMojo extends AbstractBoardMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.project-api.skip", defaultValue = "false")
    private boolean skipProjectApi;

    /** Folder of the template; by default {@code project-template} in the output folder. */
    @Parameter(property = "kiln.project.template")
    private File template;

    /**
     * The toolchain: {@code clang} (bundled and pinned), {@code gnu}, {@code host} or a descriptor's file. If not set, the
     * board's; otherwise {@code host} for the board {@code host} and {@code clang} for others.
     */
    @Parameter(property = "kiln.toolchain")
    private String toolchain;

    /**
     * Archives in Model Library Format, separated by commas, whose C the server compiles like a project's own: each
     * {@code sha256:} with the file's digest, or the file's name.
     */
    @Parameter(property = "kiln.trustArchive", defaultValue = "")
    private String trustArchive;

    /** Output folder, if this is no project of packaging {@code firmware}. */
    @Parameter(property = "kiln.outputDirectory", defaultValue = "kiln-out")
    private File outputDirectory;

    @Override
    boolean isGoalSkipped() {
        return skipProjectApi;
    }

    @Override
    boolean isAboutOneModel() {
        return true;
    }

    @Override
    void run() {
        TrustedArchives trusted = TrustedArchives.parse(trustArchive == null ? "" : trustArchive);
        BuildSpec spec = new BuildSpec(
                lastBuild(outputDirectory),
                List.of(),
                new MachineSpec(named().id(), Optional.ofNullable(toolchain), boardSources(), UpdateSpec.NONE),
                CompilerSpec.DEFAULT,
                ArchiveSpec.DEFAULT,
                ImageSpec.DEFAULT.with(new ImageOptions(Application.CONSOLE, trusted)),
                List.of());
        Path folder = template == null
                ? spec.layout().out().resolve("project-template")
                : folder().resolve(template.toPath());
        new TemplateStep(new MojoLog(getLog()), environment()).write(spec, folder, classPath());
    }

    /** What Maven loaded this plugin from: its jar and all that it depends on; SLF4J comes from Maven itself. */
    private static List<Path> classPath() {
        if (ProjectApiMojo.class.getClassLoader() instanceof URLClassLoader loader) {
            URL logging =
                    LoggerFactory.class.getProtectionDomain().getCodeSource().getLocation();
            return Stream.concat(Arrays.stream(loader.getURLs()), Stream.of(logging))
                    .map(ProjectApiMojo::file)
                    .distinct()
                    .toList();
        }
        throw Failure.API.exception("this Maven does not tell what it loads a plugin from", "");
    }

    private static Path file(URL url) {
        try {
            return Path.of(url.toURI());
        } catch (URISyntaxException e) {
            throw new KilnException(Failure.API.problem("not a file of the class path: " + url, ""), e);
        }
    }
}
