// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of processes whose JVM is killed. */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "the commands started here are POSIX ones")
class OrphanTest {
    private static final String SLEEPS = "trap '' HUP INT TERM; sleep 300 & echo $$ $!; wait";

    @TempDir
    Path folder;

    /** Starts two processes that ignore polite signals, each with a child, as builds and emulators are started, beside others that end; prints their ids. */
    public static void main(String[] arguments) {
        Path log = Path.of(arguments[0]);
        ProcessRunner.run(Command.of("true"));
        Thread build = new Thread(() ->
                ProcessRunner.run(Command.of("sh", "-c", SLEEPS).loggingTo(log).within(Duration.ofMinutes(2))));
        build.start();
        RunningProcess emulator = ProcessRunner.start(
                Command.of("sh", "-c", SLEEPS).owning(Path.of(arguments[1])).within(Duration.ofMinutes(2)));
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(emulator.output(), StandardCharsets.UTF_8))) {
            ProcessRunner.run(Command.of("true"));
            System.out.println(lines.readLine());
            build.join();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    @Timeout(value = 2, unit = TimeUnit.MINUTES)
    void aJvmThatIsKilledTakesItsProcessesWithIt() throws Exception {
        Path log = folder.resolve("run.log");
        Path temporary = Files.createDirectories(folder.resolve("not a word $HOME \\ of one line/deeper"))
                .getParent();
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        Command jvm = Command.of(
                        java.toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        OrphanTest.class.getName(),
                        log.toString(),
                        temporary.toString())
                .within(Duration.ofMinutes(2));
        try (RunningProcess process = ProcessRunner.start(jvm);
                BufferedReader lines =
                        new BufferedReader(new InputStreamReader(process.output(), StandardCharsets.UTF_8))) {
            List<ProcessHandle> orphans = Stream.of(lines.readLine(), firstLine(log))
                    .flatMap(line -> Stream.of(line.split(" ")))
                    .map(id -> ProcessHandle.of(Long.parseLong(id)).orElseThrow())
                    .toList();
            assertThat(orphans).hasSize(4).allMatch(ProcessHandle::isAlive);
            ProcessHandle.of(process.pid()).orElseThrow().destroyForcibly();
            for (ProcessHandle orphan : orphans) {
                orphan.onExit().get(30, TimeUnit.SECONDS);
            }
            while (Files.exists(temporary)) {
                Thread.sleep(10);
            }
        }
    }

    private static String firstLine(Path log) throws IOException, InterruptedException {
        while (!Files.exists(log) || !Files.readString(log).contains("\n")) {
            Thread.sleep(10);
        }
        return Files.readAllLines(log).get(0);
    }
}
