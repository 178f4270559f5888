// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.process.ProcessRunner.ProcessResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program that was made before is taken only if nothing that it depends on is another. */
class KeptProgramsTest {
    @TempDir
    private Path folder;

    @BeforeEach
    void sources() throws IOException {
        // No other run has made this one.
        Files.writeString(
                folder.resolve("main.c"),
                "/* " + UUID.randomUUID() + " */\n#include \"value.h\"\nint main(void) { return VALUE; }\n");
        Files.writeString(folder.resolve("value.h"), "#define VALUE 3\n");
    }

    private ProcessResult make(String... flags) throws IOException {
        Files.deleteIfExists(folder.resolve("program"));
        return KeptPrograms.make(folder, "program", Command.of("cc", flags));
    }

    private int answer(String... flags) throws IOException {
        assertThat(make(flags).succeeded()).isTrue();
        return ProcessRunner.run(Command.of("./program").in(folder)).exitCode();
    }

    @Test
    void theSameIsTakenAndAnotherIsMade() throws IOException {
        assertThat(answer("main.c", "-o", "program")).isEqualTo(3);
        assertThat(make("main.c", "-o", "program").elapsed()).isEqualTo(Duration.ZERO);
        assertThat(answer("main.c", "-o", "program")).isEqualTo(3);
        Files.writeString(folder.resolve("value.h"), "#define VALUE 4\n");
        assertThat(answer("main.c", "-o", "program")).isEqualTo(4);
        Files.writeString(folder.resolve("value.h"), "#ifndef VALUE\n#define VALUE 4\n#endif\n");
        assertThat(answer("-DVALUE=5", "main.c", "-o", "program")).isEqualTo(5);
    }

    @Test
    void aHeaderElsewhereIsReadAgainWhenItChanges(@TempDir Path elsewhere) throws Exception {
        Path header = Files.move(folder.resolve("value.h"), elsewhere.resolve("value.h"));
        String[] flags = {"-I" + elsewhere, "main.c", "-o", "program"};
        // So old that its digest is remembered.
        Thread.sleep(300);
        assertThat(answer(flags)).isEqualTo(3);
        assertThat(make(flags).elapsed()).isEqualTo(Duration.ZERO);
        FileTime time = Files.getLastModifiedTime(header);
        Files.writeString(header, "#define VALUE 7\n");
        Files.setLastModifiedTime(header, time);
        assertThat(answer(flags)).isEqualTo(7);
        Files.writeString(header, "#define VALUE 8\n");
        Files.setLastModifiedTime(header, time);
        assertThat(answer(flags)).isEqualTo(8);
    }

    @Test
    void whatIsOnlyCheckedIsCheckedOnce() throws IOException {
        Command check = Command.of("cc", "-fsyntax-only", "main.c");
        assertThat(KeptPrograms.check(folder, check).succeeded()).isTrue();
        assertThat(KeptPrograms.check(folder, check).elapsed()).isEqualTo(Duration.ZERO);
        Files.writeString(folder.resolve("value.h"), "#error no\n");
        assertThat(KeptPrograms.check(folder, check).message()).contains("#error no");
    }

    @Test
    void whatFailsIsNotKept() throws IOException {
        Files.writeString(folder.resolve("value.h"), "#error no\n");
        for (int time = 0; time < 2; time++) {
            ProcessResult result = make("main.c", "-o", "program");
            assertThat(result.succeeded()).isFalse();
            assertThat(result.message()).contains("#error no");
        }
    }
}
