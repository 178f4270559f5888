// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.state;

import io.kiln.base.Extensions;
import io.kiln.base.Log;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.base.incremental.Fingerprint.Made;
import io.kiln.base.incremental.Fingerprint.Made.Change;
import io.kiln.base.incremental.Fingerprint.Made.Journal;
import io.kiln.farm.link.EngineParts;
import io.kiln.flow.spec.BuildSpec.Layout;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Runs a step only if one of its inputs has changed, and logs in one line why or why not. */
public record Steps(Log log, Layout layout) {
    /**
     * Runs the step if it is out of date.
     *
     * @param title text for the log, such as {@code Generating C}
     * @param now the inputs, without Kiln itself; the state file is called like their result
     * @param work does the work and returns the files it wrote, all below the build's folder
     * @return whether the step ran
     */
    public boolean run(String title, Fingerprint now, Supplier<Collection<Path>> work) {
        Fingerprint whole = whole(now);
        StepState state = new StepState(layout.state(now.result()));
        Optional<String> reason = state.reasonToRun(whole, layout.out());
        if (reason.isEmpty()) {
            log.info(title + ": nothing changed");
            return false;
        }
        String why = title + ": " + reason.get();
        if (reason.get().equals(StepState.FIRST)) {
            log.debug(why);
        } else {
            log.info(why);
        }
        state.forget();
        state.record(whole, layout.out(), work.get());
        return true;
    }

    /** Why a step's output is out of date; empty if it is not. Outputs changed by hand are not checked. */
    public Optional<String> outdated(Fingerprint now) {
        return new StepState(layout.state(now.result())).changedInput(whole(now));
    }

    private static Fingerprint whole(Fingerprint now) {
        return now.value("Kiln", PluginVersion.text())
                .value(
                        "extensions",
                        Extensions.code(Steps.class.getClassLoader()).stream()
                                .filter(place -> !EngineParts.has(place))
                                .toList());
    }

    /** The state that a step keeps of its last run, and the messages derived from it. */
    static final class StepState {
        /** Why a step runs that has never finished. */
        static final String FIRST = "first build";

        private static final String RESULT = "step";

        private final Journal journal;

        /** State kept in a file, which need not exist. */
        StepState(Path file) {
            journal = new Journal(file);
        }

        /**
         * Why the step must run again; empty if its result is up to date.
         *
         * @param now the current inputs
         * @param root the folder to which output names are relative
         */
        Optional<String> reasonToRun(Fingerprint now, Path root) {
            Optional<Made> last = journal.read(RESULT);
            if (last.isEmpty()) {
                return Optional.of(FIRST);
            }
            return summary(last.get().changes(now).stream()
                            .map(StepState::input)
                            .toList())
                    .or(() -> summary(last.get().outputChanges(root).stream()
                            .map(StepState::output)
                            .toList()));
        }

        /** Which input has changed since the last run; empty if none. */
        Optional<String> changedInput(Fingerprint now) {
            Optional<Made> last = journal.read(RESULT);
            return last.isEmpty()
                    ? Optional.of("the last run did not finish")
                    : summary(last.get().changes(now).stream()
                            .map(StepState::input)
                            .toList());
        }

        /** Stores a finished run. */
        void record(Fingerprint now, Path root, Collection<Path> outputs) {
            journal.write(Map.of(RESULT, Made.of(now, root, outputs)));
        }

        /** Deletes the state before outputs are touched, so that a run that fails half-way never counts as finished. */
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
}
