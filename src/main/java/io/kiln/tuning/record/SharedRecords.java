// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Records that projects share: a folder of logs becomes one log with the best record of each layer, which others depend on. */
public final class SharedRecords {
    private static final String LOG = ".log";

    private SharedRecords() {}

    /**
     * Reads a log, or the best records of all logs in a folder.
     *
     * @throws KilnException if it is missing, or has lines that are not records
     */
    public static RecordReader.Log read(Path logOrFolder) {
        return Files.isDirectory(logOrFolder) ? folder(logOrFolder) : RecordReader.read(logOrFolder);
    }

    /**
     * Writes the best records of a folder's logs as one log. Equal logs give equal bytes.
     *
     * @return what was written, and the warnings of the logs
     * @throws KilnException if there is no log with records of successful measurements
     */
    public static RecordReader.Log pack(Path folder, Path file) {
        RecordReader.Log best = folder(folder);
        if (best.records().isEmpty()) {
            throw new KilnException(Failure.TUNE.problem(
                    "there are no tuning records to share",
                    folder.toString(),
                    "logs of kiln:tune, <board>.log",
                    "Run kiln:tune first"));
        }
        RecordFiles.write(file, best.records());
        return best;
    }

    private static RecordReader.Log folder(Path folder) {
        List<List<TuningRecord>> logs = new ArrayList<>();
        List<String> warnings = new ArrayList<>();
        for (Path log : logs(folder)) {
            RecordReader.Log read = RecordReader.read(log);
            logs.add(read.records());
            warnings.addAll(read.warnings());
        }
        return new RecordReader.Log(HistoryBest.pick(RecordFiles.merge(logs)), warnings);
    }

    private static List<Path> logs(Path folder) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> file.getFileName().toString().endsWith(LOG))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw FileFailure.of("cannot list", folder, e);
        }
    }
}
