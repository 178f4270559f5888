// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.firmware.BuildIndex.Entry;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Decides whether an output is still what its inputs make, and if not says why. */
final class Staleness {
    private Staleness() {}

    /**
     * The reason to make an output again; empty if it is up to date.
     *
     * @param entry what it was made from last time
     * @param tool the tool's version now
     * @param command digest of the command line now
     * @param inputs digests of files now
     * @param outputs folder that the names of outputs are relative to
     */
    static Optional<String> reason(
            Optional<Entry> entry, String tool, String command, FileDigests inputs, Path outputs) {
        return changedInput(entry, tool, command, inputs)
                .or(() -> changedOutput(entry.orElseThrow().outputs(), outputs));
    }

    /** The same, whatever became of the outputs. */
    static Optional<String> changedInput(Optional<Entry> entry, String tool, String command, FileDigests inputs) {
        if (entry.isEmpty()) {
            return Optional.of("new");
        }
        Entry last = entry.get();
        if (!last.tool().equals(tool)) {
            return Optional.of("compiler or plugin changed");
        }
        if (!last.command().equals(command)) {
            return Optional.of("flags changed");
        }
        for (Map.Entry<String, String> input : last.inputs().entrySet()) {
            if (!inputs.of(input.getKey()).equals(Optional.of(input.getValue()))) {
                return Optional.of(fileName(input.getKey()) + " changed");
            }
        }
        return Optional.empty();
    }

    private static Optional<String> changedOutput(Map<String, String> outputs, Path folder) {
        for (Map.Entry<String, String> output : outputs.entrySet()) {
            Optional<String> now = FileDigests.digest(folder.resolve(output.getKey()));
            if (!now.equals(Optional.of(output.getValue()))) {
                return Optional.of(fileName(output.getKey()) + (now.isEmpty() ? " is gone" : " was changed"));
            }
        }
        return Optional.empty();
    }

    static String fileName(String path) {
        return path.substring(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
    }
}
