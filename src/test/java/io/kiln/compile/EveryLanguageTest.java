// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same model has the same C and the same archive on every computer, whatever its language, charset and time zone. */
class EveryLanguageTest {
    /** Other digits (Persian, Burmese), another i, another decimal point. */
    private static final List<String> LANGUAGES = List.of("fa-IR", "my-MM", "tr-TR", "de-DE");

    @TempDir
    private Path folder;

    @Test
    void cArchivesAndMessagesAreTheSameInEveryLanguage() throws IOException {
        List<String> expected = ofLanguage("its own", run("en-US", "UTF-8", "UTC", List.of()));
        List<String> lines = run("ar-EG", "ISO-8859-1", "Asia/Kathmandu", LANGUAGES);

        assertThat(expected).hasSizeGreaterThan(3 * 4 * 3).contains("|id: integer found, string expected");
        assertThat(ofLanguage("its own", lines)).isEqualTo(expected);
        for (String language : LANGUAGES) {
            assertThat(ofLanguage(language, lines)).as(language).isEqualTo(expected);
        }
    }

    private static List<String> ofLanguage(String language, List<String> lines) {
        return lines.stream()
                .filter(line -> line.startsWith(language + "|"))
                .map(line -> line.substring(language.length()))
                .toList();
    }

    /** What the program prints in a Java that was started in a language, and in others afterwards. */
    private List<String> run(String language, String charset, String zone, List<String> others) throws IOException {
        Path models = Files.createDirectory(folder.resolve(language));
        List<String> line = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Duser.language=" + language.substring(0, 2),
                "-Duser.country=" + language.substring(3),
                "-Dfile.encoding=" + charset,
                "-Duser.timezone=" + zone,
                "-cp",
                System.getProperty("java.class.path"),
                OutputsInLanguages.class.getName(),
                models.toString()));
        line.addAll(others);
        ProcessResult result = ProcessRunner.run(Command.ofLine(line));
        assertThat(result.exitCode()).as(result.message()).isZero();
        return result.output().lines().toList();
    }
}
