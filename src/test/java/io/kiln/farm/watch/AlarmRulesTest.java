// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.farm.desk.FarmEvent;
import io.kiln.farm.desk.FarmEvent.Kind;
import io.kiln.farm.watch.StatusServer.FarmFigures;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.TestPrograms;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The alarm rules that are on the site: their figures exist, and they ring when they should. */
final class AlarmRulesTest {
    private static final Path RULES = Path.of("src", "site", "resources", "farm", "alarms.yaml");

    /** Series that are made up, and what rings then. */
    private static final Path CASES =
            Path.of("src", "test", "resources", "io", "kiln", "farm", "watch", "alarms-test.yaml");

    private static final Pattern FIGURE = Pattern.compile("(?:kiln_farm|jvm)_[a-z_]+");
    private static final Pattern EVENT = Pattern.compile("event=\"([a-z_]+)\"");
    private static final Pattern ALARM = Pattern.compile("KilnFarm[A-Za-z]+");

    private static Set<String> found(Pattern pattern, int group, String text) {
        return pattern.matcher(text)
                .results()
                .map((MatchResult result) -> result.group(group))
                .collect(Collectors.toSet());
    }

    @Test
    void rules_and_their_cases_name_figures_and_events_that_exist() throws IOException {
        FarmFigures figures = new FarmFigures(Optional.of(Instant.EPOCH));
        figures.read(HostileFiguresTest.state(0));
        figures.happened(FarmEvent.of(Kind.JOB_GIVEN_UP));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        figures.write(out);
        String told = out.toString(StandardCharsets.UTF_8);
        for (Path file : new Path[] {RULES, CASES}) {
            String text = Files.readString(file);
            assertThat(found(FIGURE, 0, told)).containsAll(found(FIGURE, 0, text));
            assertThat(Stream.of(Kind.values()).map(Kind::text)).containsAll(found(EVENT, 1, text));
        }
        assertThat(found(ALARM, 0, Files.readString(CASES))).isEqualTo(found(ALARM, 0, Files.readString(RULES)));
    }

    @EnabledIfSystemProperty(named = "kiln.golden", matches = "all")
    @Test
    void each_rings_when_it_should_and_not_before() {
        TestPrograms.need("promtool");
        ProcessResult result = ProcessRunner.run(
                Command.of("promtool", "test", "rules", CASES.toString()).within(Duration.ofMinutes(5)));
        assertThat(result.exitCode()).as(result.output() + result.errors()).isZero();
    }
}
