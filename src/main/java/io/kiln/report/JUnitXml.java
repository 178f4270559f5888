// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import io.kiln.base.Printable;
import io.kiln.base.WholeFiles;
import io.kiln.report.PlanReport.Result;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Writes verifications and tests as JUnit XML, so that CI servers show every case as a test. */
public final class JUnitXml {
    /** Characters that XML 1.0 forbids, even escaped. */
    private static final Pattern FORBIDDEN =
            Pattern.compile("[^\\t\\n\\r\\x20-\\uD7FF\\uE000-\\uFFFD\\x{10000}-\\x{10FFFF}]");

    private static final double MILLIS = 1000;

    private JUnitXml() {}

    /**
     * Writes the cases of a verification; the file is complete or not there.
     *
     * @param times how long each case took, in the order of the report's cases
     */
    public static void write(Path file, VerifyReport report, List<Duration> times) {
        WholeFiles.write(file, text(report, times));
    }

    static String text(VerifyReport report, List<Duration> times) {
        String suite = "kiln.verify." + report.board();
        boolean stopped = !report.passed() && report.failures() == 0;
        Duration all = times.stream().reduce(Duration.ZERO, Duration::plus);
        StringBuilder xml = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        int errors = stopped ? 1 : 0;
        xml.append(head(suite, report.cases().size() + errors, report.failures(), errors, 0, all));
        for (int i = 0; i < report.cases().size(); i++) {
            append(xml, suite, report, i, times.get(i));
        }
        if (stopped) {
            begin(xml, suite, "verification", Duration.ZERO)
                    .append(">\n    <error message=\"")
                    .append(escape(report.failure().lines().findFirst().orElse("it did not pass")))
                    .append("\">")
                    .append(escape(report.failure()))
                    .append("</error>\n  </testcase>\n");
        }
        return xml.append("</testsuite>\n").toString();
    }

    /** Writes the tests of a program; the file is complete or not there. */
    public static void write(Path file, TestReport report) {
        StringBuilder xml = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
        report.suites().forEach(suite -> append(xml, suite));
        WholeFiles.write(file, xml.append("</testsuites>\n").toString());
    }

    /** Writes the cells of a test plan, with the digests of their images and their logs; the file is complete or not there. */
    public static void write(Path file, PlanReport report) {
        Duration all = report.cells().stream()
                .flatMap(cell -> cell.run().stream())
                .map(PlanReport.Run::time)
                .reduce(Duration.ZERO, Duration::plus);
        StringBuilder xml = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        long failed = report.count(Result.FAILED);
        xml.append(head(report.title(), report.cells().size(), failed, 0, report.count(Result.SKIPPED), all));
        report.cells().forEach(cell -> append(xml, cell));
        WholeFiles.write(file, xml.append("</testsuite>\n").toString());
    }

    private static void append(StringBuilder xml, PlanReport.Cell cell) {
        Duration time = cell.run().map(PlanReport.Run::time).orElse(Duration.ZERO);
        begin(xml, "kiln.plan." + cell.model(), cell.board(), time).append(">\n");
        cell.run()
                .ifPresent(run -> xml.append("    <properties>\n      <property name=\"sha256\" value=\"")
                        .append(escape(run.digest()))
                        .append("\"/>\n      <property name=\"ranOn\" value=\"")
                        .append(escape(run.ranOn()))
                        .append("\"/>\n    </properties>\n"));
        String first = escape(cell.reason().lines().findFirst().orElse(""));
        switch (cell.result()) {
            case PASSED -> {}
            case SKIPPED -> xml.append("    <skipped message=\"").append(first).append("\"/>\n");
            case FAILED ->
                xml.append("    <failure message=\"")
                        .append(first)
                        .append("\">")
                        .append(escape(cell.reason()))
                        .append("</failure>\n");
        }
        cell.run()
                .ifPresent(run -> xml.append("    <system-out>")
                        .append(escape(String.join("\n", run.lines())))
                        .append("</system-out>\n"));
        xml.append("  </testcase>\n");
    }

    private static void append(StringBuilder xml, TestReport.Suite suite) {
        Duration all = suite.cases().stream().map(TestReport.Case::time).reduce(Duration.ZERO, Duration::plus);
        long failures = suite.cases().stream()
                .filter(test -> test.failure().isPresent())
                .count();
        xml.append(head(suite.name(), suite.cases().size(), failures, 0, 0, all));
        for (TestReport.Case test : suite.cases()) {
            begin(xml, suite.name(), test.name(), test.time());
            xml.append(test.failure()
                    .map(failure -> ">\n    <failure message=\""
                            + escape(failure.lines().findFirst().orElse("it failed")) + "\">" + escape(failure)
                            + "</failure>\n  </testcase>\n")
                    .orElse("/>\n"));
        }
        xml.append("</testsuite>\n");
    }

    private static void append(StringBuilder xml, String suite, VerifyReport report, int index, Duration time) {
        VerifyReport.Case c = report.cases().get(index);
        begin(xml, suite, c.name(), time);
        if (c.mismatches() == 0) {
            xml.append("/>\n");
            return;
        }
        String message = c.isProgram()
                ? report.failure()
                : String.format(
                        Locale.ROOT,
                        "%d of %d outputs differ from the reference, by up to %s",
                        c.mismatches(),
                        c.outputs(),
                        c.maxAbsDiff());
        xml.append(">\n    <failure message=\"").append(escape(message)).append("\"/>\n  </testcase>\n");
    }

    private static String head(String name, int tests, long failures, int errors, long skipped, Duration time) {
        return String.format(
                Locale.ROOT,
                "<testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"%s\">\n",
                escape(name),
                tests,
                failures,
                errors,
                skipped,
                seconds(time));
    }

    private static StringBuilder begin(StringBuilder xml, String suite, String name, Duration time) {
        return xml.append("  <testcase classname=\"")
                .append(escape(suite))
                .append("\" name=\"")
                .append(escape(name))
                .append("\" time=\"")
                .append(seconds(time))
                .append('"');
    }

    private static String seconds(Duration time) {
        return String.format(Locale.ROOT, "%.3f", time.toMillis() / MILLIS);
    }

    private static String escape(String text) {
        return FORBIDDEN
                .matcher(text)
                .replaceAll("\uFFFD")
                .lines()
                .map(Printable::line)
                .collect(Collectors.joining("\n"))
                .replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

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
}
