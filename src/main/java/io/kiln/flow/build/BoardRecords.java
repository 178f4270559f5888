// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.base.Log;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.tuning.record.HistoryBest;
import io.kiln.tuning.record.RecordReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The tuning records that a build follows. They were measured before; a build needs no device for them. */
public final class BoardRecords {
    private BoardRecords() {}

    /** The log that {@code kiln:tune} writes, whether or not it exists: the one that is named, or the board's in the project. */
    public static Path log(BuildSpec spec) {
        return spec.tuningRecords().orElseGet(() -> spec.layout().tuningRecords(spec.board()));
    }

    /** The log, if it exists. */
    static Optional<Path> file(BuildSpec spec) {
        return Optional.of(log(spec)).filter(Files::isRegularFile);
    }

    /** The best records of the build. */
    static HistoryBest best(BuildSpec spec) {
        return file(spec)
                .map(RecordReader::read)
                .map(log -> new HistoryBest(log.records()))
                .orElse(HistoryBest.NONE);
    }

    /** Logs which records a build follows, and what is wrong with them. */
    static void announce(BuildSpec spec, Log log) {
        file(spec).ifPresent(file -> {
            RecordReader.Log read = RecordReader.read(file);
            log.info(read.records().size() + " tuning records in " + file);
            read.warnings().forEach(log::warn);
        });
    }
}
