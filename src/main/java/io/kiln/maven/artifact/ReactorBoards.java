// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.artifact;

import io.kiln.toolchain.compiler.ArtifactFetcher;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.maven.model.Plugin;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.util.xml.Xpp3Dom;

/**
 * Fetches board profiles, from modules of this build first. Before such a module is packaged it has no file, so {@code
 * mvn compile} and an editor's import get the folder of its profiles.
 */
public final class ReactorBoards implements ArtifactFetcher {
    private static final String PLUGIN = "io.kiln:kiln-maven-plugin";
    private static final String PARAMETER = "boardsDirectory";
    private static final Path USUAL = Path.of("src", "main", "boards");

    /** Deepest level of an editor's output folder in a module. */
    private static final int DEEPEST_OUTPUT = 3;

    private final List<MavenProject> modules;
    private final ArtifactFetcher others;

    /**
     * @param modules the modules of this build
     * @param others fetches artifacts of other projects
     */
    public ReactorBoards(List<MavenProject> modules, ArtifactFetcher others) {
        this.modules = List.copyOf(modules);
        this.others = others;
    }

    /** The artifact's file, or a folder of profiles. */
    @Override
    public Path fetch(String groupId, String artifactId, String version, String classifier, String extension) {
        return modules.stream()
                .filter(module -> module.getPackaging().equals(BoardArtifacts.TYPE))
                .filter(module -> module.getGroupId().equals(groupId)
                        && module.getArtifactId().equals(artifactId)
                        && module.getVersion().equals(version))
                .findFirst()
                .map(ReactorBoards::profiles)
                .orElseGet(() -> ofWorkspace(others.fetch(groupId, artifactId, version, classifier, extension), USUAL));
    }

    private static Path profiles(MavenProject module) {
        return Optional.ofNullable(module.getArtifact().getFile())
                .filter(File::isFile)
                .map(File::toPath)
                .orElseGet(() -> folder(module));
    }

    /** The folder that the module itself uses: its own configuration, the property, or the default. */
    private static Path folder(MavenProject module) {
        String named = Stream.of(
                        configured(module),
                        Optional.ofNullable(module.getProperties().getProperty("kiln.boardsDirectory")))
                .flatMap(Optional::stream)
                .findFirst()
                .orElse(USUAL.toString());
        return module.getBasedir().toPath().resolve(named);
    }

    private static Optional<String> configured(MavenProject module) {
        return Optional.ofNullable(module.getPlugin(PLUGIN))
                .map(Plugin::getConfiguration)
                .filter(Xpp3Dom.class::isInstance)
                .map(Xpp3Dom.class::cast)
                .map(configuration -> configuration.getChild(PARAMETER))
                .map(Xpp3Dom::getValue);
    }

    /**
     * What was fetched. Editors resolve a project of the workspace to its output folder; then it is a folder of the project.
     *
     * @param wanted the folder, relative to the project
     */
    static Path ofWorkspace(Path fetched, Path wanted) {
        Path folder = fetched;
        for (int i = 0; i <= DEEPEST_OUTPUT && folder != null && Files.isDirectory(fetched); i++) {
            if (Files.isRegularFile(folder.resolve("pom.xml"))) {
                return folder.resolve(wanted);
            }
            folder = folder.getParent();
        }
        return fetched;
    }
}
