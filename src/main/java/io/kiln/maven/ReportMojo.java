// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.base.KilnException;
import io.kiln.flow.page.BuildPage;
import java.io.File;
import java.nio.file.Path;
import java.util.Locale;
import org.apache.maven.doxia.sink.Sink;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.reporting.MavenReport;
import org.apache.maven.reporting.MavenReportException;

/**
 * The page of the build in the project's site: {@code mvn verify site} with the plugin among the plugins of {@code reporting}. A project without an
 * image has no such report.
 *
 * @since 0.1.0
 */
@Mojo(name = "report", threadSafe = true)
public final class ReportMojo extends AbstractKilnMojo implements MavenReport {
    /** Name of the page in the site's folder. */
    private static final String PAGE = "kiln";

    /** Skips this goal. */
    @Parameter(property = "kiln.report.skip", defaultValue = "false")
    private boolean skipReport;

    /** The site's folder, unless it is set by the site. */
    @Parameter(defaultValue = "${project.reporting.outputDirectory}", readonly = true, required = true)
    private File site;

    @Override
    boolean isGoalSkipped() {
        return skipReport;
    }

    @Override
    void run() {
        Path copy = BuildPage.copy(projectLayout(), site.toPath().resolve(PAGE + ".html"));
        getLog().info("Page: " + copy);
    }

    @Override
    public boolean canGenerateReport() {
        boolean hasPage =
                !skipReport && BuildPage.file(projectLayout()).toFile().isFile();
        if (!skipReport && !hasPage) {
            getLog().info("No report of Kiln: this module has no image (mvn verify site makes the image first)");
        }
        return hasPage;
    }

    /** The page looks after its style itself, so the site's sink gets nothing. */
    @Override
    public boolean isExternalReport() {
        return true;
    }

    @Override
    public void generate(Sink sink, Locale locale) throws MavenReportException {
        try {
            run();
        } catch (KilnException e) {
            throw new MavenReportException(e.told(), e);
        }
    }

    @Override
    @SuppressWarnings("deprecation") // Called by sites before Doxia 2.
    public String getOutputName() {
        return PAGE;
    }

    @Override
    public String getOutputPath() {
        return PAGE;
    }

    @Override
    public String getCategoryName() {
        return CATEGORY_PROJECT_REPORTS;
    }

    @Override
    public String getName(Locale locale) {
        return "Kiln";
    }

    @Override
    public String getDescription(Locale locale) {
        return "Flash, RAM, operators, time and proof of the firmware";
    }

    @Override
    public void setReportOutputDirectory(File directory) {
        site = directory;
    }

    @Override
    public File getReportOutputDirectory() {
        return site;
    }
}
