// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.incremental.Change;
import io.kiln.base.incremental.FileDigests;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.base.incremental.Made;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Decides whether an object or an image is up to date with its inputs, and if not, why. The inputs are a tool, a
 * command line, the files read, and rivals: files of the same names that the tool may come to read instead.
 */
final class Staleness {
    private static final String TOOL = "tool";
    private static final String COMMAND = "command";
    private static final String FILE = "file/";
    private static final String RIVAL = "rival/";

    /** Name of an image's input that stands for the whole board: its memories are checked, and more of it takes part than the linker reads. */
    static final String BOARD = "board";

    private Staleness() {}

    /**
     * The inputs of an output.
     *
     * @param tool version of the compiler and of Kiln
     * @param command digest of the command line
     * @param files digest of every file read, by the compiler's name for it; empty if the file is missing
     * @param rivals paths of rival files
     */
    static Fingerprint inputs(String tool, String command, Map<String, String> files, Collection<String> rivals) {
        Fingerprint inputs = Fingerprint.of("object").value(TOOL, tool).value(COMMAND, command);
        files.forEach((name, digest) -> inputs.value(FILE + name, digest));
        rivals.forEach(name -> inputs.value(RIVAL + name, ""));
        return inputs;
    }

    /** The {@link #inputs} of an output with the current digests of the files read last time. */
    static Fingerprint inputsNow(String tool, String command, Set<String> files, FileDigests digests) {
        Fingerprint inputs = inputs(tool, command, Map.of(), List.of());
        files.forEach(name -> digests.of(name).ifPresent(digest -> inputs.value(FILE + name, digest)));
        return inputs;
    }

    /** The files read for an output. */
    static Set<String> files(Made made) {
        Set<String> files = new TreeSet<>();
        made.inputs().keySet().stream()
                .filter(name -> name.startsWith(FILE))
                .forEach(name -> files.add(name.substring(FILE.length())));
        return files;
    }

    /**
     * Why an output is out of date; empty if it is not.
     *
     * @param last its inputs last time
     * @param now its inputs now
     * @param outputs folder to which the names of outputs are relative
     */
    static Optional<String> reason(Optional<Made> last, Fingerprint now, Path outputs) {
        return changedInput(last, now).or(() -> changedOutput(last.orElseThrow(), outputs));
    }

    /** Which input of an output has changed, in the words of {@link #reason}, without a look at the outputs or at rivals. */
    static Optional<String> changedInput(Optional<Made> last, Fingerprint now) {
        if (last.isEmpty()) {
            return Optional.of("new");
        }
        List<Change> changes = last.get().changes(now);
        if (changes.stream().anyMatch(change -> change.name().equals(TOOL))) {
            return Optional.of("compiler or plugin changed");
        }
        if (changes.stream().anyMatch(change -> change.name().equals(COMMAND))) {
            return Optional.of("flags changed");
        }
        return changes.stream()
                .map(Change::name)
                .filter(name -> name.startsWith(FILE) || name.startsWith(BOARD))
                .min(String::compareTo)
                .map(name -> fileName(name) + " changed");
    }

    /** Why an object of a cache is out of date; its tool and command line are known to be the same. */
    static Optional<String> reason(Made made, Set<String> files, FileDigests digests, Collection<String> rivals) {
        return changedInput(Optional.of(made), inputsNow("", "", files, digests))
                .or(() -> newRival(made, rivals));
    }

    /** Digest of a file read for an output. */
    static String digest(Made made, String file) {
        return made.inputs().get(FILE + file);
    }

    /** A rival that did not exist last time. */
    static Optional<String> newRival(Made last, Collection<String> rivals) {
        return rivals.stream()
                .filter(rival -> !last.inputs().containsKey(RIVAL + rival))
                .findFirst()
                .map(rival -> fileName(rival) + " was added");
    }

    private static Optional<String> changedOutput(Made last, Path folder) {
        return last.outputChanges(folder).stream()
                .findFirst()
                .map(change -> fileName(change.name()) + (change.now().isEmpty() ? " is gone" : " was changed"));
    }

    static String fileName(String path) {
        return path.substring(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
    }
}
