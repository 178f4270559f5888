// SPDX-License-Identifier: Apache-2.0
package io.kiln;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** One of the processes that run the tests has another language, another charset and another time zone, always. */
class TestForksTest {
    private static final String FORK = "kiln.test.fork";
    private static final Path FORKS = Path.of("src", "test", "forks");
    private static final String OPTION = "@src/test/forks/${surefire.forkNumber}.args";
    private static final Pattern ARG_LINE = Pattern.compile("<argLine>(.*)</argLine>");

    @Test
    void theFirstForkIsArabicAndEveryForkHasItsOptions() throws IOException {
        String pom = Files.readString(Path.of("pom.xml"));
        Matcher count = Pattern.compile("<test\\.forks>(\\d+)</test\\.forks>").matcher(pom);
        assertThat(count.find()).isTrue();
        for (int fork = 1; fork <= Integer.parseInt(count.group(1)); fork++) {
            assertThat(FORKS.resolve(fork + ".args")).exists();
        }
        List<String> lines =
                ARG_LINE.matcher(pom).results().map(found -> found.group(1)).toList();
        // Jazzer's process reads files only, and begins with one module after another.
        assertThat(lines)
                .filteredOn(line -> !line.contains("--limit-modules"))
                .isNotEmpty()
                .allMatch(line -> line.endsWith(" " + OPTION));
        assertThat(Files.readString(FORKS.resolve("1.args")))
                .isEqualTo("-Dkiln.test.fork=1 -Duser.language=ar -Duser.country=EG -Dfile.encoding=ISO-8859-1"
                        + " -Duser.timezone=Asia/Kathmandu\n");
    }

    @Test
    @EnabledIfSystemProperty(named = FORK, matches = "\\d+", disabledReason = "this is not one of Surefire's forks")
    void aForkHasTheOptionsOfItsFile() throws IOException {
        Properties properties = System.getProperties();
        String options = Files.readString(FORKS.resolve(properties.getProperty(FORK) + ".args"));

        for (String option : options.strip().split(" ", -1)) {
            String name = option.substring("-D".length(), option.indexOf('='));
            assertThat(option).isEqualTo("-D" + name + "=" + properties.getProperty(name));
        }
    }
}
