// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.diff.DiffStep;
import io.kiln.flow.page.BuildPage;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.maven.session.MojoLog;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import javax.inject.Inject;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProjectHelper;

/**
 * Links the image, compares its size with the board's memory, and attaches {@code .elf}, {@code .bin}, {@code .hex}, {@code .uf2}, {@code .map}
 * and {@code -mlf.tar}.
 *
 * @since 0.1.0
 */
@Mojo(name = "link", defaultPhase = LifecyclePhase.PACKAGE, threadSafe = true)
public final class LinkMojo extends AbstractBuildMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.link.skip", defaultValue = "false")
    private boolean skipLink;

    /**
     * Whether {@code report.json} and the page {@code index.html} are attached with the classifier {@code report}, so that later builds can be
     * compared with this one, and the bill of materials and the provenance of the image with the classifiers {@code cyclonedx} and {@code provenance}.
     */
    @Parameter(property = "kiln.attachReports", defaultValue = "false")
    private boolean attachReports;

    /**
     * The most that a build may take: elements {@code flash}, {@code ram}, {@code instructions} and {@code cycles}, each a number such as {@code 64K}
     * or a share of growth such as {@code +2%}, and {@code baseline}, the build that shares refer to, named as in {@code kiln.diff.with}; or properties
     * such as {@code kiln.budget.flash}. Instructions and cycles are counted by {@code kiln:verify}.
     */
    @Parameter
    private Map<String, String> budget;

    @Inject
    private MavenProjectHelper helper;

    @Override
    boolean isGoalSkipped() {
        return skipLink;
    }

    @Override
    void run() {
        runUnlessUpToDate(
                "link",
                budget,
                flow -> flow.link(
                        spec(),
                        build -> new DiffStep(new MojoLog(getLog()), projectLayout())
                                .check(budgets(budget).ofMemory())));
        Layout layout = projectLayout();
        project().getArtifact().setFile(layout.image("elf").toFile());
        for (String type : new String[] {"bin", "hex", "uf2", "map"}) {
            attach(layout.image(type), type, Optional.empty());
        }
        attach(layout.archive(), "tar", Optional.of("mlf"));
        if (attachReports) {
            attach(layout.reports().resolve("report.json"), "json", Optional.of("report"));
            attach(layout.image("cdx.json"), "json", Optional.of("cyclonedx"));
            attach(layout.image("provenance.json"), "json", Optional.of("provenance"));
            attach(BuildPage.file(layout), "html", Optional.of("report"));
        }
    }

    /** The board {@code host} has an executable only, so missing files are not attached. */
    private void attach(Path file, String type, Optional<String> classifier) {
        if (Files.isRegularFile(file)) {
            helper.attachArtifact(project(), type, classifier.orElse(null), file.toFile());
        }
    }
}
