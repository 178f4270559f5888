// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.artifact;

import io.kiln.toolchain.compiler.ArtifactFetcher;
import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.maven.model.Dependency;
import org.apache.maven.project.MavenProject;

/**
 * Finds the tuning records that a project depends on: dependencies of type {@code tuning-records}. A module of this build has no file before it is
 * packaged, so that {@code mvn compile} gets the folder of its logs.
 */
public final class RecordArtifacts {
    private static final String TYPE = "tuning-records";
    private static final String EXTENSION = "log";

    private RecordArtifacts() {}

    /**
     * Fetches the artifacts in the order of the dependencies.
     *
     * @param modules the modules of this build
     * @return logs, or folders of logs
     */
    public static List<Path> fetch(List<Dependency> dependencies, List<MavenProject> modules, ArtifactFetcher fetcher) {
        return dependencies.stream()
                .filter(dependency -> TYPE.equals(dependency.getType()))
                .map(dependency -> modules.stream()
                        .filter(module -> is(module, dependency))
                        .findFirst()
                        .map(RecordArtifacts::ofModule)
                        .orElseGet(() -> fetcher.fetch(
                                dependency.getGroupId(),
                                dependency.getArtifactId(),
                                dependency.getVersion(),
                                "",
                                EXTENSION)))
                .toList();
    }

    private static boolean is(MavenProject module, Dependency dependency) {
        return module.getPackaging().equals(TYPE)
                && module.getGroupId().equals(dependency.getGroupId())
                && module.getArtifactId().equals(dependency.getArtifactId())
                && module.getVersion().equals(dependency.getVersion());
    }

    private static Path ofModule(MavenProject module) {
        return Optional.ofNullable(module.getArtifact().getFile())
                .filter(File::isFile)
                .map(File::toPath)
                .orElseGet(() -> folder(module.getBasedir().toPath()));
    }

    /** The logs of a project. */
    public static Path folder(Path project) {
        return project.resolve("src").resolve("main").resolve("tuning");
    }
}
