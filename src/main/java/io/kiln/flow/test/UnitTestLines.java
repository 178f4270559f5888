// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.test;

import io.kiln.report.TestReport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** Reads what the runner of unit tests prints, {@code kiln_test.c}. Not thread-safe. */
final class UnitTestLines implements Consumer<String> {
    private static final String RUN = "kiln-test: run ";
    private static final String OK = "kiln-test: ok ";
    private static final String FAILED = "kiln-test: failed ";

    private final LongSupplier clock;
    private final StringBuilder line = new StringBuilder();
    private final List<TestReport.Case> cases = new ArrayList<>();
    private Optional<String> running = Optional.empty();
    private long began;

    /**
     * @param clock nanoseconds
     */
    UnitTestLines(LongSupplier clock) {
        this.clock = clock;
    }

    @Override
    public void accept(String text) {
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (character == '\n') {
                take(line.toString());
                line.setLength(0);
            } else if (character != '\r') {
                line.append(character);
            }
        }
    }

    private void take(String whole) {
        if (whole.startsWith(RUN)) {
            running = Optional.of(whole.substring(RUN.length()));
            began = clock.getAsLong();
        } else if (whole.startsWith(OK)) {
            end(whole.substring(OK.length()), Optional.empty());
        } else if (whole.startsWith(FAILED)) {
            String rest = whole.substring(FAILED.length());
            int colon = rest.indexOf(": ");
            end(
                    colon < 0 ? rest : rest.substring(0, colon),
                    Optional.of(colon < 0 ? "it failed" : rest.substring(colon + 2)));
        }
    }

    private void end(String name, Optional<String> failure) {
        running = Optional.empty();
        cases.add(new TestReport.Case(name, Duration.ofNanos(clock.getAsLong() - began), failure));
    }

    /**
     * The tests that ran.
     *
     * @param ending how the program ended; if a test was running, it failed with this
     */
    List<TestReport.Case> cases(String ending) {
        List<TestReport.Case> all = new ArrayList<>(cases);
        running.ifPresent(name ->
                all.add(new TestReport.Case(name, Duration.ofNanos(clock.getAsLong() - began), Optional.of(ending))));
        return all;
    }
}
