// SPDX-License-Identifier: Apache-2.0
package io.kiln.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.TestPrograms;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Python of the pages is Python. Kiln brings none of the libraries that it calls. */
class PythonBlocksTest {
    private static final String COMPILE = """
            import sys
            for name in sys.argv[1:]:
                compile(open(name, encoding="utf-8").read(), name, "exec")
            """;

    @TempDir
    private Path folder;

    @Test
    void everyBlockIsPython() throws IOException {
        TestPrograms.need("python3");
        List<String> arguments = new ArrayList<>(List.of("-c", COMPILE));
        for (DocBlock block : DocBlock.toCheck("python")) {
            Path file = Files.writeString(folder.resolve(block.page() + "-" + block.line() + ".py"), block.text());
            arguments.add(file.toString());
        }
        assertThat(arguments).hasSizeGreaterThan(6);
        ProcessResult result =
                ProcessRunner.run(Command.of("python3", arguments).in(folder).within(Duration.ofMinutes(1)));
        assertThat(result.exitCode()).as(result.message()).isZero();
    }
}
