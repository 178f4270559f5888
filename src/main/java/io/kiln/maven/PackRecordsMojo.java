// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.maven.artifact.ReactorFolders.RecordArtifacts;
import io.kiln.tuning.record.RecordFiles.SharedRecords;
import io.kiln.tuning.record.RecordReader;
import java.nio.file.Path;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Packs the best records of all logs in {@code src/main/tuning} into the project's artifact, a log that other projects depend on with the type
 * {@code tuning-records}.
 *
 * @since 0.1.0
 */
@Mojo(name = "pack-records", defaultPhase = LifecyclePhase.PACKAGE, threadSafe = true)
public final class PackRecordsMojo extends AbstractKilnMojo {
    /** Skips this goal. */
    @Parameter(property = "kiln.pack-records.skip", defaultValue = "false")
    private boolean skipPackRecords;

    @Override
    boolean isGoalSkipped() {
        return skipPackRecords;
    }

    @Override
    void run() {
        Path log = projectLayout().image("log");
        RecordReader.Log packed =
                SharedRecords.pack(RecordArtifacts.folder(project().getBasedir().toPath()), log);
        packed.warnings().forEach(getLog()::warn);
        getLog().info("Packed the best " + packed.records().size() + " records in " + log);
        project().getArtifact().setFile(log.toFile());
    }
}
