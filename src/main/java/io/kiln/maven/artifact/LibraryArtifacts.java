// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.artifact;

import io.kiln.firmware.CodeLibrary;
import io.kiln.toolchain.compiler.ArtifactFetcher;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.maven.model.Dependency;
import org.apache.maven.project.MavenProject;

/**
 * Finds the dependencies of type {@code firmware-library}. A module of this build that is not packaged yet is taken from its
 * sources, so that {@code mvn compile} works.
 *
 * @param modules the modules of this build
 * @param others fetches artifacts of other projects
 */
public record LibraryArtifacts(List<MavenProject> modules, ArtifactFetcher others) {
    private static final String TYPE = "firmware-library";
    private static final String EXTENSION = "zip";
    private static final Path SOURCES = Path.of("src", "main");

    public LibraryArtifacts {
        modules = List.copyOf(modules);
    }

    /** The libraries, in the order of the dependencies. */
    public List<CodeLibrary> of(List<Dependency> dependencies) {
        return dependencies.stream()
                .filter(dependency -> TYPE.equals(dependency.getType()))
                .map(dependency -> new CodeLibrary(dependency.getArtifactId(), place(dependency)))
                .toList();
    }

    private Path place(Dependency wanted) {
        return modules.stream()
                .filter(module -> module.getPackaging().equals(TYPE)
                        && module.getGroupId().equals(wanted.getGroupId())
                        && module.getArtifactId().equals(wanted.getArtifactId())
                        && module.getVersion().equals(wanted.getVersion()))
                .findFirst()
                .map(LibraryArtifacts::ofModule)
                .orElseGet(() -> ReactorBoards.ofWorkspace(
                        others.fetch(wanted.getGroupId(), wanted.getArtifactId(), wanted.getVersion(), "", EXTENSION),
                        SOURCES));
    }

    private static Path ofModule(MavenProject module) {
        return Optional.ofNullable(module.getArtifact().getFile())
                .map(File::toPath)
                .filter(Files::isRegularFile)
                .orElseGet(() -> module.getBasedir().toPath().resolve(SOURCES));
    }
}
