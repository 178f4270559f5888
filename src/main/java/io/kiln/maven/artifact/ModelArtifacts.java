// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.artifact;

import io.kiln.flow.model.SharedModel;
import io.kiln.toolchain.compiler.ToolchainEnvironment.ArtifactFetcher;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.maven.artifact.Artifact;
import org.apache.maven.model.Dependency;
import org.apache.maven.project.MavenProject;

/**
 * Finds the model of a build: a file, an artifact of packaging {@code model}, or the archive of a firmware project.
 *
 * @param modules the modules of this build
 * @param others fetches artifacts of other projects
 * @param home folder in which artifacts are unpacked
 */
public record ModelArtifacts(List<MavenProject> modules, ArtifactFetcher others, Path home) {
    static final String TYPE = "model";
    private static final String FIRMWARE = "firmware";
    private static final String ARCHIVE = "mlf";

    /** Coordinates cannot be mistaken for a path: no system has paths with two colons between words. */
    private static final Pattern COORDINATES =
            Pattern.compile("[A-Za-z0-9_.-]+:[A-Za-z0-9_.-]+:[A-Za-z0-9_.-]+(:[A-Za-z0-9_.+/-]+)?");

    public ModelArtifacts {
        modules = List.copyOf(modules);
    }

    /**
     * The model that is named, or else that of a dependency; empty if there is neither.
     *
     * @param text what the user names, if anything
     * @param folder that a relative file is relative to
     */
    public Optional<SharedModel> find(Optional<String> text, Path folder, List<Dependency> dependencies) {
        return text.map(name -> named(name, folder)).or(() -> ofDependency(dependencies));
    }

    /**
     * The model that the user names.
     *
     * @param text a file, {@code group:artifact:version}, with {@code :FILE} for one file of several, or with {@code :mlf} for the archive of
     *     a firmware project
     * @param folder that a relative file is relative to
     */
    public SharedModel named(String text, Path folder) {
        if (!COORDINATES.matcher(text).matches()) {
            return SharedModel.of(folder.resolve(text));
        }
        String[] words = text.split(":", -1);
        return of(words[0], words[1], words[2], words.length > 3 ? Optional.of(words[3]) : Optional.empty());
    }

    /** The model of the only dependency of type {@code model}; empty if there is none, or if there are several to choose from. */
    public Optional<SharedModel> ofDependency(List<Dependency> dependencies) {
        List<Dependency> models = dependencies.stream()
                .filter(dependency -> TYPE.equals(dependency.getType()))
                .toList();
        return models.size() == 1
                ? Optional.of(of(
                        models.get(0).getGroupId(),
                        models.get(0).getArtifactId(),
                        models.get(0).getVersion(),
                        Optional.empty()))
                : Optional.empty();
    }

    private SharedModel of(String group, String artifact, String version, Optional<String> file) {
        Optional<MavenProject> firmware = ReactorFolders.module(modules, FIRMWARE, group, artifact, version);
        if (firmware.isPresent()) {
            return SharedModel.of(archive(firmware.get()));
        }
        if (file.filter(ARCHIVE::equals).isPresent()) {
            return SharedModel.of(others.fetch(group, artifact, version, ARCHIVE, "tar"));
        }
        ArtifactFetcher reactor = new ReactorFolders(ReactorFolders.MODELS, modules, others);
        return SharedModel.of(reactor.fetch(group, artifact, version, "", "zip"), file, home);
    }

    /** The archive that is attached; before the module is packaged, the one that it generated. */
    private static Path archive(MavenProject module) {
        return module.getAttachedArtifacts().stream()
                .filter(attached -> ARCHIVE.equals(attached.getClassifier()))
                .map(Artifact::getFile)
                .map(File::toPath)
                .filter(Files::isRegularFile)
                .findFirst()
                .orElseGet(() -> Path.of(module.getBuild().getDirectory())
                        .resolve("generated-sources")
                        .resolve("kiln")
                        .resolve("model-mlf.tar"));
    }
}
