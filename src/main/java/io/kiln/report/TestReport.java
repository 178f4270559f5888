// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The tests of a program.
 *
 * @param suites groups of tests, each of what ran on one machine
 */
public record TestReport(List<Suite> suites) {
    public TestReport {
        suites = List.copyOf(suites);
    }

    /**
     * Tests that ran on one machine.
     *
     * @param name what and where
     */
    public record Suite(String name, List<Case> cases) {
        public Suite {
            cases = List.copyOf(cases);
        }
    }

    /**
     * One test.
     *
     * @param time how long it took
     * @param failure what went wrong; empty if it passed
     */
    public record Case(String name, Duration time, Optional<String> failure) {}

    public long tests() {
        return suites.stream().mapToLong(suite -> suite.cases().size()).sum();
    }

    /** Number of tests that failed. */
    public long failures() {
        return suites.stream()
                .flatMap(suite -> suite.cases().stream())
                .filter(test -> test.failure().isPresent())
                .count();
    }
}
