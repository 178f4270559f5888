// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.flow.diff.DiffStep.LastBuild;
import io.kiln.flow.projectapi.TemplateStep;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** All that is written has the permissions that the umask of the process leaves; what is inside of archives does not depend on it. */
@DisabledOnOs(OS.WINDOWS)
final class UmaskTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    @TempDir
    Path folder;

    /** Writes one output of each kind below a folder. */
    public static final class Writer {
        private Writer() {}

        /** The folder is the only argument. */
        public static void main(String[] arguments) {
            Path folder = Path.of(arguments[0]);
            BuildSpec spec = new GestureProject(folder).gnu("mps2-an386");
            WholeFiles.write(folder.resolve("out/kiln/report.json"), "{}");
            LastBuild.keep(spec.layout());
            new TemplateStep(Log.QUIET, TestToolchains.environment(Log.QUIET))
                    .write(spec, folder.resolve("template"), List.of(folder));
            WholeFiles.writeProgram(folder.resolve("program.sh"), new byte[] {'#'});
            WholeFiles.writeProgram(folder.resolve("program.sh"), new byte[] {'#', '!'});
            WholeFiles.write(folder.resolve("src/main/boards/own/board.yaml"), """
                schema: 1
                id: own
                title: Own
                extends: mps2-an386
                """);
            Boards.pack(folder.resolve("src/main/boards"), folder.resolve("boards.zip"));
        }
    }

    /** Builds a whole firmware. */
    public static final class Builder {
        private Builder() {}

        /** The folder is the only argument. */
        public static void main(String[] arguments) {
            BuildSpec spec = new GestureProject(Path.of(arguments[0])).gnu("mps2-an386");
            Flow flow =
                    new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET).withoutObjectCache());
            flow.generate(spec);
            flow.link(spec);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "077, rw-------, rwx------",
        "027, rw-r-----, rwxr-x---",
        "022, rw-r--r--, rwxr-xr-x",
        "026, rw-r-----, rwxr-x--x"
    })
    void filesAndFoldersHaveWhatTheUmaskLeaves(String umask, String file, String program) throws IOException {
        Path written = run(umask, Writer.class);
        Map<String, String> wrong = wrong(written, file, program);
        assertThat(wrong).isEmpty();
        Path here = folder.resolve("here.zip");
        Boards.pack(written.resolve("src/main/boards"), here);
        assertThat(written.resolve("boards.zip")).hasSameBinaryContentAs(here);
    }

    @Test
    void aFirmwareHasWhatTheUmaskLeaves() throws IOException {
        Path written = run("077", Builder.class);
        assertThat(written.resolve("out/gesture.elf")).isExecutable();
        assertThat(wrong(written, "rw-------", "rwx------")).isEmpty();
    }

    private Path run(String umask, Class<?> program) {
        Path written = folder.resolve("written");
        ProcessResult result = ProcessRunner.run(Command.of(
                        "sh",
                        "-c",
                        "umask \"$0\" && exec \"$@\"",
                        umask,
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-Dmaven.repo.local=" + System.getProperty("maven.repo.local", ""),
                        "-cp",
                        System.getProperty("java.class.path"),
                        program.getName(),
                        written.toString())
                .within(LIMIT));
        assertThat(result.succeeded()).as(result.message()).isTrue();
        return written;
    }

    /** Permissions by path of all that has others: files that are executed are as open as folders. */
    private static Map<String, String> wrong(Path root, String file, String program) throws IOException {
        Map<String, String> wrong = new TreeMap<>();
        try (Stream<Path> all = Files.walk(root)) {
            for (Path each : all.toList()) {
                String actual = PosixFilePermissions.toString(Files.getPosixFilePermissions(each));
                boolean isProgram = Files.isDirectory(each)
                        || each.toString().endsWith(".elf")
                        || each.toString().endsWith(".sh");
                if (!actual.equals(isProgram ? program : file)) {
                    wrong.put(root.relativize(each).toString(), actual);
                }
            }
        }
        assertThat(root).isNotEmptyDirectory();
        return wrong;
    }
}
