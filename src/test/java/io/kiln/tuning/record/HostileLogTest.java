// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Logs of a few megabytes whose values would take many times as much: they are read, and searched for the best, in little memory. */
class HostileLogTest {
    private static final int LETTERS = 2 << 20;
    private static final String LINE = """
        {"input":["%s","%s",[%s],{}],"config":{"index":1,"entity":[%s]},"result":[[%s],0,1,1],"version":0.2}
        """;

    @TempDir
    private Path folder;

    /** What the process with little memory does. */
    public static void main(String[] args) {
        RecordReader.Log log = RecordReader.read(Path.of(args[0]));
        HistoryBest best = new HistoryBest(log.records());
        System.out.println(log.records().size() + " " + best.records().count());
    }

    @ParameterizedTest
    @ValueSource(strings = {"short", "costs", "arguments", "knobs", "keys"})
    void aLogTakesSomeTimesItsSizeAndNotThirtyTimes(String kind) throws IOException {
        Path log = folder.resolve("hostile.log");
        String first = line(kind, 0);
        int count = LETTERS / first.length();
        Files.writeString(
                log, IntStream.range(0, count).mapToObj(i -> line(kind, i)).collect(Collectors.joining()));
        ProcessResult result = ProcessRunner.run(Command.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                List.of(
                        "-Xmx20m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        HostileLogTest.class.getName(),
                        log.toString())));
        assertThat(result.exitCode()).as(result.message()).isZero();
        assertThat(result.output()).startsWith(count + " ");
    }

    private static String line(String kind, int i) {
        String many = IntStream.range(0, 400).mapToObj(k -> "" + (i * 7 + k)).collect(Collectors.joining(","));
        return switch (kind) {
            case "costs" -> String.format(Locale.ROOT, LINE, "c -keys=cpu", "t" + i, "", "", "1,".repeat(400) + "1");
            case "arguments" -> String.format(Locale.ROOT, LINE, "c -keys=cpu", "t" + i, many, "", "1");
            case "knobs" ->
                String.format(Locale.ROOT, LINE, "c -keys=cpu", "t" + i, "", "[\"k\",\"ot\",[" + many + "]]", "1");
            case "keys" ->
                String.format(Locale.ROOT, LINE, "c -keys=" + "k,".repeat(2000) + i, "t".repeat(4000) + i, "", "", "1");
            default -> String.format(Locale.ROOT, LINE, "", "t", "", "", "1");
        };
    }

    /** One target with many keys does not repeat its workload for each. */
    @Test
    void keysShareTheirWorkload() throws IOException {
        String keys = IntStream.range(0, 40_000).mapToObj(Integer::toString).collect(Collectors.joining(","));
        String line = String.format(
                Locale.ROOT, LINE, "c -keys=" + keys.substring(0, 90_000), "t".repeat(90_000), "", "", "1");
        RecordReader.Log log = RecordReader.parse(line, "x.log");
        assertThat(new HistoryBest(log.records()).records()).hasSizeGreaterThan(15_000);
    }

    @Test
    void aLineOfALogThatIsTooLongIsNotReadWhole() {
        String last = "{\"input\":[" + "[1],".repeat(1 << 19);
        assertThatThrownBy(() -> RecordReader.parse("\n" + last, "x.log"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("x.log:2", "the line is longer than 1 MiB");
    }
}
