// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.flow.inspect.Doctor;
import io.kiln.flow.spec.BoardSpec.DoctorSpec;
import io.kiln.maven.group.CompilationGroups;
import io.kiln.maven.group.Device;
import io.kiln.maven.session.JsonOutput;
import io.kiln.report.listing.ToolsReport;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.codehaus.plexus.configuration.PlexusConfiguration;

/**
 * Lists the tools that board and project need with their versions, and what is missing, rights included, with its remedy. With {@code kiln.monitor.port} it says too
 * whether the program at that port speaks RPC.
 *
 * @since 0.1.0
 */
@Mojo(name = "doctor", requiresProject = false, threadSafe = true)
public final class DoctorMojo extends AbstractBoardMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.doctor.skip", defaultValue = "false")
    private boolean skipDoctor;

    /**
     * The toolchain: {@code clang} (bundled and pinned), {@code gnu}, {@code host} or a descriptor's file. If not set, the
     * board's; otherwise {@code host} for the board {@code host} and {@code clang} for others.
     */
    @Parameter(property = "kiln.toolchain")
    private String toolchain;

    /** Installs what the board needs with the system's package manager. */
    @Parameter(property = "kiln.install", defaultValue = "false")
    private boolean install;

    /** Fails if a tool that the board needs is missing, for use in continuous integration. */
    @Parameter(property = "kiln.strict", defaultValue = "false")
    private boolean strict;

    /** How it is shown: {@code text} in the log for people, {@code json} on standard output for programs ({@code mvn -q}). */
    @Parameter(property = "kiln.output", defaultValue = "text")
    private String output;

    /** The board's console: elements {@code port}, {@code serial} and {@code baud}, or properties {@code kiln.monitor.NAME}. */
    @Parameter
    private PlexusConfiguration monitor;

    @Override
    boolean isGoalSkipped() {
        return skipDoctor;
    }

    @Override
    void run() {
        Problems malformed = new Problems(Failure.CONFIG);
        DoctorSpec spec = new DoctorSpec(
                boardSpec(Optional.ofNullable(toolchain)),
                Device.console(values(Device.MONITOR, monitor)),
                CompilationGroups.code(List.of(), List.of(), values(CompilationGroups.CODE, null), malformed)
                        .libc(),
                hasTestsOnHost());
        malformed.throwIfAny();
        if (!JsonOutput.isAsked(output)) {
            boardFlow().doctor(spec, install, strict);
            return;
        }
        if (install) {
            throw Failure.CONFIG.exception(
                    "JSON is for programs, which install nothing",
                    "kiln.install",
                    "one of kiln.install and kiln.output",
                    "Leave out one of the two");
        }
        ToolsReport report = boardFlow().doctorReport(spec);
        JsonOutput.print(report);
        if (strict) {
            Doctor.requireAll(report);
        }
    }

    /** Whether {@code kiln:test} compiles the project's unit tests for this computer. */
    private boolean hasTestsOnHost() {
        return Files.isDirectory(projectLayout().unitTests())
                && parameters()
                        .property("kiln.test.units")
                        .or(() -> parameters().undeclared("units"))
                        .orElse("host")
                        .contains("host");
    }
}
