// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.process.ProcessRunner.Executables;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.ProcessRunner.SharedLog;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@DisabledOnOs(value = OS.WINDOWS, disabledReason = "the commands started here are POSIX ones")
class ProcessRunnerTest {
    @TempDir
    Path folder;

    @Test
    void argumentsArriveAsTheyAreWritten() {
        ProcessResult result =
                ProcessRunner.run(Command.of("printf", "%s|", "a b", "", "$HOME", "\"q\" 'r'", "*", "${x}"));

        assertThat(result.succeeded()).isTrue();
        assertThat(result.output()).isEqualTo("a b||$HOME|\"q\" 'r'|*|${x}|");
    }

    @Test
    void exitCodeAndBothStreamsComeBackAndTheLogHasAll() throws IOException {
        Path log = folder.resolve("logs/out.log");
        ProcessResult result = ProcessRunner.run(
                Command.of("sh", "-c", "echo out; echo err >&2; exit 3").loggingTo(log));

        assertThat(result.exitCode()).isEqualTo(3);
        assertThat(result.timedOut()).isFalse();
        assertThat(result.output()).isEqualTo("out\n");
        assertThat(result.errors()).isEqualTo("err\n");
        assertThat(Files.readString(log).lines()).containsExactlyInAnyOrder("out", "err");
    }

    @Test
    void inputDirectoryAndEnvironmentReachTheProcess() throws IOException {
        ProcessResult result = ProcessRunner.run(Command.of("sh", "-c", "cat; pwd; echo \"$KILN_TEST:${HOME-gone}\"")
                .in(folder)
                .reading(Bytes.ofText("hello\n"))
                .with("KILN_TEST", "yes")
                .without(Set.of("HOME")));

        assertThat(result.output().lines())
                .containsExactly("hello", folder.toRealPath().toString(), "yes:gone");
    }

    @Test
    void programsAnswerInTheLanguageC() {
        Command command = Command.of("sh", "-c", "echo \"$LC_ALL\"").with("KILN_TEST", "yes");

        assertThat(ProcessRunner.run(command).output()).isEqualTo("C\n");
    }

    @Test
    void aProcessThatIgnoresItsInputIsNotWaitedFor() {
        ProcessResult result = ProcessRunner.run(Command.of("true").reading(Bytes.wrap(new byte[1 << 20])));

        assertThat(result.succeeded()).isTrue();
    }

    @Test
    void moreOutputThanTheLimitIsCutInMemoryAndWholeInTheLog() throws IOException {
        Path log = folder.resolve("big.log");
        int bytes = ProcessRunner.CAPTURE_LIMIT + 100_000;
        ProcessResult result = ProcessRunner.run(
                Command.of("head", "-c", Integer.toString(bytes), "/dev/zero").loggingTo(log));

        assertThat(result.output()).hasSize(ProcessRunner.CAPTURE_LIMIT);
        assertThat(Files.size(log)).isEqualTo(bytes);
    }

    @Test
    void aProcessThatFloodsIsStoppedAndItsLogStaysSmall() throws IOException {
        Path log = folder.resolve("flood.log");
        Command flood = Command.of("sh", "-c", "yes 'the same again and again'").loggingTo(log);
        assertThatThrownBy(() -> ProcessRunner.run(flood))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("sh: it printed more than 64 MiB and was stopped");
        assertThat(Files.size(log)).isBetween((long) SharedLog.MOST, SharedLog.MOST + 100L);
        Command errors = Command.of("sh", "-c", "yes 'the same again and again' >&2");
        try (RunningProcess process = ProcessRunner.start(errors)) {
            assertThat(process.waitFor(Duration.ofSeconds(60))).isPresent();
            assertThat(process.flooded()).isTrue();
            assertThat(process.errors()).hasSize(ProcessRunner.CAPTURE_LIMIT);
        }
    }

    @Test
    void timeOverKillsDescendantsToo() {
        ProcessResult result =
                ProcessRunner.run(Command.of("sh", "-c", "trap '' TERM; sleep 300 & echo $!; wait; sleep 300")
                        .within(Duration.ofMillis(500)));

        assertThat(result.timedOut()).isTrue();
        assertThat(result.succeeded()).isFalse();
        assertThat(result.elapsed()).isLessThan(Duration.ofSeconds(20));
        long child = Long.parseLong(result.output().strip());
        assertThat(ProcessHandle.of(child).filter(ProcessHandle::isAlive)).isEmpty();
    }

    @Test
    void oneGuardianIsEnoughForAllProcessesAndComesBackIfItIsKilled() {
        try (RunningProcess first = ProcessRunner.start(Command.of("cat"));
                RunningProcess second = ProcessRunner.start(Command.of("cat"))) {
            ProcessRunner.run(Command.of("true"));
            assertThat(first.isAlive() && second.isAlive()).isTrue();
            List<ProcessHandle> guardians = guardians();
            assertThat(guardians).hasSize(1);
            guardians.get(0).destroyForcibly();
            guardians.get(0).onExit().join();
            ProcessRunner.run(Command.of("true"));
            assertThat(guardians()).hasSize(1).doesNotContainAnyElementsOf(guardians);
        }
    }

    private static List<ProcessHandle> guardians() {
        return ProcessHandle.current()
                .children()
                .filter(TestPrograms::isGuardian)
                .toList();
    }

    @Test
    void whatCannotBeStartedIsSaid() {
        assertThatThrownBy(() -> ProcessRunner.run(Command.of("kiln-no-such-tool")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kiln-no-such-tool: cannot be started");
    }

    @Test
    void aRunningProcessAnswersAndDiesWhenClosed() throws IOException {
        Path log = folder.resolve("console.log");
        RunningProcess process =
                ProcessRunner.start(Command.of("sh", "-c", "echo warned >&2; while read x; do echo \"got $x\"; done")
                        .loggingTo(log));
        try (process) {
            BufferedReader console =
                    new BufferedReader(new InputStreamReader(process.output(), StandardCharsets.UTF_8));
            process.input().write("one\n".getBytes(StandardCharsets.UTF_8));
            process.input().flush();
            assertThat(console.readLine()).isEqualTo("got one");
            assertThat(process.isAlive()).isTrue();
            assertThat(process.waitFor(Duration.ofMillis(10))).isEmpty();
        }
        assertThat(process.isAlive()).isFalse();
        assertThat(process.timedOut()).isFalse();
        assertThat(process.errors()).isEqualTo("warned\n");
        assertThat(Files.readString(log)).contains("got one").contains("warned");
    }

    @Test
    void aRunningProcessEndsByItselfOrByItsTimeLimit() throws IOException {
        try (RunningProcess process = ProcessRunner.start(Command.of("sh", "-c", "exit 7"))) {
            assertThat(process.waitFor(Duration.ofSeconds(20))).isEqualTo(Optional.of(7));
        }
        try (RunningProcess process =
                ProcessRunner.start(Command.of("sleep", "300").within(Duration.ofMillis(200)))) {
            assertThat(process.output().read()).isEqualTo(-1);
            assertThat(process.waitFor(Duration.ofSeconds(20))).isPresent();
            assertThat(process.timedOut()).isTrue();
        }
    }

    @Test
    void executablesAreFoundOnThePath() {
        assertThat(Executables.find("sh")).isPresent();
        assertThat(Executables.find("kiln-no-such-tool")).isEmpty();
        assertThat(Executables.findIn(folder, "sh")).isEmpty();
    }

    @Test
    void wordsAreQuotedForPeopleOnlyWhereNeeded() {
        assertThat(Command.of("cc", "-DX=1", "a b", "it's", "").text()).isEqualTo("cc -DX=1 'a b' 'it'\\''s' ''");
    }
}
