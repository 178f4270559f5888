// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import java.util.List;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.model.Plugin;
import org.apache.maven.plugin.logging.Log;
import org.apache.maven.project.MavenProject;

/**
 * Maven's own upload, which follows flashing. A project that is only flashed has no upload target, and the deploy
 * plugin would fail on it.
 */
public record Upload(MavenProject project, MavenSession session) {
    private static final String SKIP = "maven.deploy.skip";
    private static final String DEPLOY_PLUGIN = "org.apache.maven.plugins:maven-deploy-plugin";
    private static final List<String> ALTERNATIVES =
            List.of("altDeploymentRepository", "altReleaseDeploymentRepository", "altSnapshotDeploymentRepository");

    /** Makes the deploy plugin skip this project and logs that, unless the build has an upload target. */
    public void leaveOutIfNothingSaysWhereTo(Log log) {
        if (!saysWhereTo() && !isSet(SKIP)) {
            log.info("No upload: the project has no distributionManagement, and no altDeploymentRepository is given.");
            project.getProperties().setProperty(SKIP, "true");
        }
    }

    private boolean saysWhereTo() {
        return project.getDistributionManagementArtifactRepository() != null
                || ALTERNATIVES.stream().anyMatch(name -> isSet(name) || isConfigured(name));
    }

    private boolean isSet(String property) {
        return session.getUserProperties().containsKey(property)
                || session.getSystemProperties().containsKey(property)
                || project.getProperties().containsKey(property);
    }

    private boolean isConfigured(String parameter) {
        Plugin plugin = project.getPlugin(DEPLOY_PLUGIN);
        return plugin != null
                && plugin.getConfiguration() != null
                && plugin.getConfiguration().toString().contains("<" + parameter + ">");
    }
}
