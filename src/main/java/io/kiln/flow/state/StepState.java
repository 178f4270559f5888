// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.state;

import io.kiln.base.incremental.Change;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.base.incremental.Journal;
import io.kiln.base.incremental.Made;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What a step remembers of its last run, and what its users are told about it. */
final class StepState {
    private static final String RESULT = "step";

    private final Journal journal;

    /** The state in a file, which need not be there. */
    StepState(Path file) {
        journal = new Journal(file);
    }

    /**
     * Why the step must run again, or nothing if its result stands.
     *
     * @param now what the result depends on now
     * @param root the folder that outputs are named relative to
     */
    Optional<String> reasonToRun(Fingerprint now, Path root) {
        Optional<Made> last = journal.read(RESULT);
        if (last.isEmpty()) {
            return Optional.of("first build");
        }
        return summary(last.get().changes(now).stream().map(StepState::input).toList())
                .or(() -> summary(last.get().outputChanges(root).stream()
                        .map(StepState::output)
                        .toList()));
    }

    /** Why the last run's result is not of these inputs, or nothing if it is. */
    Optional<String> changedInput(Fingerprint now) {
        Optional<Made> last = journal.read(RESULT);
        return last.isEmpty()
                ? Optional.of("it did not end")
                : summary(last.get().changes(now).stream().map(StepState::input).toList());
    }

    /** Remembers a finished run. */
    void record(Fingerprint now, Path root, Collection<Path> outputs) {
        journal.write(Map.of(RESULT, Made.of(now, root, outputs)));
    }

    /** Forgets the last run, before outputs are touched: a run that fails half-way is never taken for whole. */
    void forget() {
        journal.forget();
    }

    private static String input(Change change) {
        if (change.before().isEmpty()) {
            return change.name() + " is new";
        }
        if (change.now().isEmpty()) {
            return change.name() + " is gone";
        }
        String before = change.before().get();
        String now = change.now().get();
        return Fingerprint.isDigest(before) || Fingerprint.isDigest(now)
                ? change.name() + " changed"
                : change.name() + " changed from '" + before + "' to '" + now + "'";
    }

    private static String output(Change change) {
        return change.name() + (change.now().isEmpty() ? " is missing" : " was changed by hand");
    }

    private static Optional<String> summary(List<String> reasons) {
        if (reasons.isEmpty()) {
            return Optional.empty();
        }
        String first = reasons.get(0);
        return Optional.of(reasons.size() == 1 ? first : first + " and " + (reasons.size() - 1) + " more");
    }
}
