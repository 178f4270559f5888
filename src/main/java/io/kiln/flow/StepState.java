// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.base.FileFailure;
import io.kiln.base.WholeFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What a step remembers of its last run: its fingerprint and the digests of what it wrote, in one text file of
 * {@code kind<TAB>name<TAB>value} lines.
 */
final class StepState {
    private static final int NAMED = 3;
    private static final String INPUT = "input";
    private static final String OUTPUT = "output";

    private final Path file;

    StepState(Path file) {
        this.file = file;
    }

    /**
     * Why the step must run again, or nothing if its result stands.
     *
     * @param now what the result depends on now
     * @param root the folder that outputs are named relative to
     */
    Optional<String> reasonToRun(Fingerprint now, Path root) {
        Optional<Map<String, Map<String, String>>> read = read();
        if (read.isEmpty()) {
            return Optional.of("first build");
        }
        List<String> changes = changes(read.get().get(INPUT), now.parts());
        if (!changes.isEmpty()) {
            return Optional.of(summary(changes));
        }
        List<String> reasons = new ArrayList<>();
        for (Map.Entry<String, String> output : read.get().get(OUTPUT).entrySet()) {
            Path path = root.resolve(output.getKey());
            if (!Files.isRegularFile(path)) {
                reasons.add(output.getKey() + " is missing");
            } else if (!Fingerprint.digest(path).equals(output.getValue())) {
                reasons.add(output.getKey() + " was changed by hand");
            }
        }
        return reasons.isEmpty() ? Optional.empty() : Optional.of(summary(reasons));
    }

    /** Why the last run's result is not of these inputs, or nothing if it is. */
    Optional<String> changedInput(Fingerprint now) {
        Optional<Map<String, Map<String, String>>> read = read();
        if (read.isEmpty()) {
            return Optional.of("it did not end");
        }
        List<String> changes = changes(read.get().get(INPUT), now.parts());
        return changes.isEmpty() ? Optional.empty() : Optional.of(summary(changes));
    }

    /** Remembers a finished run. */
    void record(Fingerprint now, Path root, Collection<Path> outputs) {
        StringBuilder text = new StringBuilder();
        now.parts().forEach((name, value) -> line(text, INPUT, name, value));
        new TreeSet<>(outputs)
                .forEach(output -> line(
                        text,
                        OUTPUT,
                        root.relativize(output).toString().replace('\\', '/'),
                        Fingerprint.digest(output)));
        WholeFiles.write(file, text.toString());
    }

    /** Forgets the last run, before outputs are touched: a run that fails half-way is never taken for whole. */
    void forget() {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw FileFailure.of("cannot delete", file, e);
        }
    }

    /** Empty if there is no such file, or one that was not written whole: a power failure leaves zeros where text should be. */
    private Optional<Map<String, Map<String, String>>> read() {
        if (!Files.isRegularFile(file)) {
            return Optional.empty();
        }
        Map<String, Map<String, String>> all = Map.of(INPUT, new TreeMap<>(), OUTPUT, new TreeMap<>());
        try {
            for (String line : Files.readAllLines(file)) {
                String[] parts = line.split("\t", NAMED);
                if (parts.length != NAMED || !all.containsKey(parts[0]) || line.indexOf('\0') >= 0) {
                    return Optional.empty();
                }
                all.get(parts[0]).put(parts[1], parts[2]);
            }
        } catch (IOException e) {
            return Optional.empty();
        }
        return Optional.of(all);
    }

    private static List<String> changes(Map<String, String> before, Map<String, String> now) {
        List<String> changes = new ArrayList<>();
        for (Map.Entry<String, String> part : now.entrySet()) {
            String old = before.get(part.getKey());
            if (old == null) {
                changes.add(part.getKey() + " is new");
            } else if (!old.equals(part.getValue())) {
                changes.add(
                        isDigest(old) || isDigest(part.getValue())
                                ? part.getKey() + " changed"
                                : part.getKey() + " changed from '" + old + "' to '" + part.getValue() + "'");
            }
        }
        before.keySet().stream()
                .filter(name -> !now.containsKey(name))
                .map(name -> name + " is gone")
                .forEach(changes::add);
        return changes;
    }

    private static boolean isDigest(String value) {
        return value.matches("[0-9a-f]{64}");
    }

    private static String summary(List<String> reasons) {
        return reasons.size() == 1 ? reasons.get(0) : reasons.get(0) + " and " + (reasons.size() - 1) + " more";
    }

    private static void line(StringBuilder text, String kind, String name, String value) {
        text.append(kind)
                .append('\t')
                .append(name.replace('\t', ' '))
                .append('\t')
                .append(value)
                .append('\n');
    }
}
