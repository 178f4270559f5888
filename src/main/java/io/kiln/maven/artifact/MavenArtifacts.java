// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.artifact;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.toolchain.compiler.ToolchainEnvironment.ArtifactFetcher;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.maven.project.MavenProject;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.RepositorySystemSession;
import org.eclipse.aether.artifact.Artifact;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.repository.RemoteRepository;
import org.eclipse.aether.resolution.ArtifactRequest;
import org.eclipse.aether.resolution.ArtifactResolutionException;

/** Fetches through Maven's resolution, so that local repository, mirrors, proxies, checksums and {@code -o} apply. */
public final class MavenArtifacts implements ArtifactFetcher {
    private final RepositorySystem system;
    private final RepositorySystemSession session;
    private final List<RemoteRepository> repositories;

    public MavenArtifacts(RepositorySystem system, RepositorySystemSession session, MavenProject project) {
        this.system = system;
        this.session = session;
        Set<RemoteRepository> all = new LinkedHashSet<>(project.getRemoteProjectRepositories());
        all.addAll(project.getRemotePluginRepositories());
        this.repositories = new ArrayList<>(all);
    }

    @Override
    public Path fetch(String groupId, String artifactId, String version, String classifier, String extension) {
        Artifact artifact = new DefaultArtifact(groupId, artifactId, classifier, extension, version);
        try {
            return system.resolveArtifact(session, new ArtifactRequest(artifact, repositories, null))
                    .getArtifact()
                    .getFile()
                    .toPath();
        } catch (ArtifactResolutionException e) {
            throw new KilnException(
                    Failure.TOOL.problem(
                            "cannot be fetched: " + e.getMessage(),
                            artifact.toString(),
                            "an artifact in the local repository or in one of the settings",
                            session.isOffline()
                                    ? "Run once without -o"
                                            + (classifier.isEmpty()
                                                    ? ""
                                                    : ", or choose an installed compiler with -Dkiln.toolchain=gnu")
                                    : "Check the network and the mirrors in settings.xml"),
                    e);
        }
    }
}
