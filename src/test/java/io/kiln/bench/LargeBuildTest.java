// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code -Dkiln.large}: models of thousands of operators become C in a process with 1 GB of heap. */
@EnabledIfSystemProperty(named = "kiln.large", matches = ".*")
class LargeBuildTest {
    private static final Duration LIMIT = Duration.ofMinutes(10);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"chain, 10000", "recurrent, 5000", "wide, 4000"})
    void aGigabyteIsEnough(String kind, String operators) {
        ProcessResult result = ProcessRunner.run(Command.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        List.of(
                                "-Xmx1g",
                                "-cp",
                                System.getProperty("java.class.path"),
                                LargeBuild.class.getName(),
                                kind,
                                operators,
                                "mps2-an386",
                                folder.toString(),
                                "generate"))
                .within(LIMIT));
        assertThat(result.exitCode()).as(result.message()).isZero();
        assertThat(result.output()).startsWith("generate");
    }
}
