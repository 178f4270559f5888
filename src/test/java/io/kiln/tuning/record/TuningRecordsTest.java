// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import io.kiln.tuning.record.RecordValue.Numeric;
import io.kiln.tuning.record.RecordValue.Text;
import io.kiln.tuning.record.TuningRecord.Config;
import io.kiln.tuning.record.TuningRecord.Entity;
import io.kiln.tuning.record.TuningRecord.MeasureError;
import io.kiln.tuning.record.TuningRecord.Result;
import io.kiln.tuning.record.TuningRecord.TaskKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TuningRecordsTest {
    @TempDir
    private Path folder;

    private static TuningRecord record(String target, String workload, int index, double cost) {
        return TuningRecord.of(
                new TaskKey(target, "kiln.conv2d.cortex-m4", List.of(new Text(workload))),
                new Config(index, List.of(Entity.other("unroll", Numeric.of(index)))),
                new Result(List.of(cost), MeasureError.NONE, 0, 1));
    }

    private static Path tvmLog() {
        return SharedFolder.need("tvm").resolve("autotvm-records.log");
    }

    @Test
    @NeedsShared("tvm")
    void aLogOfTvmIsWrittenAsItWasRead() throws IOException {
        RecordReader.Log log = RecordReader.read(tvmLog());
        assertThat(log.records()).hasSize(24);
        assertThat(log.warnings()).isEmpty();
        assertThat(RecordFiles.text(log.records())).isEqualTo(Files.readString(tvmLog()));
    }

    /** The parts print as they were read, too, so that records that Kiln makes look like TVM's. */
    @Test
    @NeedsShared("tvm")
    void newRecordsHaveTheFormOfTvms() {
        for (TuningRecord read : RecordReader.read(tvmLog()).records()) {
            boolean isUsual = read.line().contains("\"code_hash\": null")
                    && !read.line().contains("Infinity")
                    && !read.line().contains("5e-324")
                    && !read.line().contains("{\"k\": 1}")
                    && !read.line().matches(".*\"result\": \\[\\[.*\\], \\d+, \\d+, .*");
            if (isUsual) {
                assertThat(TuningRecord.of(read.task(), read.config(), read.result())
                                .line())
                        .isEqualTo(read.line());
            }
        }
        assertThat(Numeric.of(12345e-9).text()).isEqualTo("1.2345e-05");
        assertThat(Numeric.of(1e16).text()).isEqualTo("1e+16");
        assertThat(Numeric.of(0.1).text()).isEqualTo("0.1");
        assertThat(Numeric.of(3.0).text()).isEqualTo("3.0");
    }

    @Test
    @NeedsShared("tvm")
    void picksTheWinnersOfEachModelAndKey() {
        List<TuningRecord> picked = HistoryBest.pick(RecordReader.read(tvmLog()).records());
        assertThat(picked).allMatch(record -> record.result().isMeasured());
        assertThat(picked)
                .filteredOn(record -> record.task().target().equals("c -keys=arm_cpu,cpu -mcpu=cortex-m4")
                        && record.task().template().equals("dense_pack.x86"))
                .singleElement()
                .satisfies(record -> assertThat(record.config().index()).isEqualTo(5));
        assertThat(HistoryBest.pick(picked)).isEqualTo(picked);
    }

    @Test
    void aRecordOfTheModelWinsOverOneOfItsKeys() {
        TuningRecord ofModel = record("c -keys=arm_cpu,cpu -model=stm32f405", "a", 1, 0.5);
        TuningRecord ofKey = record("c -keys=arm_cpu,cpu -model=other", "a", 2, 0.25);
        TuningRecord slower = record("c -keys=arm_cpu,cpu -model=stm32f405", "a", 3, 0.75);
        HistoryBest best = new HistoryBest(List.of(ofModel, ofKey, slower));
        assertThat(best.find(ofModel.task())).contains(ofModel);
        assertThat(best.find(record("c -keys=arm_cpu,cpu", "a", 0, 0).task())).contains(ofKey);
        assertThat(best.find(record("c -keys=cpu -model=new", "a", 0, 0).task()))
                .contains(ofKey);
        assertThat(best.find(record("c -keys=riscv_cpu", "a", 0, 0).task())).isEmpty();
        assertThat(best.find(record("c -keys=cpu", "b", 0, 0).task())).isEmpty();
    }

    @Test
    void mergesLogsWithoutDoubles() {
        TuningRecord a = record("c -keys=cpu", "a", 1, 0.5);
        TuningRecord b = record("c -keys=cpu", "a", 2, 0.25);
        assertThat(RecordFiles.merge(List.of(List.of(a, b), List.of(b, a)))).containsExactly(a, b);
    }

    @Test
    void oldVersionsAndHalfLinesAreSkippedWithWarnings() throws IOException {
        String line = record("c -keys=cpu -target=arm", "a", 1, 0.5).line();
        RecordReader.Log log = RecordReader.parse(
                "# a comment\n\n{\"v\": 0.1, \"i\": []}\n" + line + "\n" + line.substring(0, 40), "x.log");
        assertThat(log.records())
                .singleElement()
                .satisfies(record -> assertThat(record.line()).contains("-mtriple=arm"));
        assertThat(log.warnings())
                .hasSize(3)
                .anyMatch(warning -> warning.startsWith("x.log:3: records of version 0.1"))
                .anyMatch(warning -> warning.startsWith("x.log:5: the last record is incomplete"));
        Path file = folder.resolve("x.log");
        Files.writeString(file, line + "\n" + line.substring(0, 40));
        assertThat(RecordFiles.open(file).records()).hasSize(1);
        RecordFiles.append(file, List.of(record("c -keys=cpu", "b", 1, 1)));
        assertThat(RecordReader.read(file).records()).hasSize(2);
    }

    /** A licence or a word of the team at the beginning of a log outlives every search. */
    @Test
    void commentsAtTheBeginningStay() throws IOException {
        Path file = folder.resolve("x.log");
        TuningRecord a = record("c -keys=cpu", "a", 1, 0.5);
        TuningRecord b = record("c -keys=cpu", "a", 2, 0.25);
        Files.writeString(file, "# SPDX-License-Identifier: X\n\n# measured in the lab\n" + a.line() + "\n");
        RecordFiles.append(file, List.of(b));
        RecordFiles.write(file, HistoryBest.pick(RecordFiles.open(file).records()));
        assertThat(file).hasContent("# SPDX-License-Identifier: X\n\n# measured in the lab\n" + b.line() + "\n");
    }

    /** Else a log of old records would fill memory and console with warnings. */
    @Test
    void ofManyWarningsTheFirstAreSaid() {
        RecordReader.Log log = RecordReader.parse("{\"v\": 0.1}\n".repeat(1000), "x.log");
        assertThat(log.warnings()).hasSize(21).endsWith("x.log: 980 more warnings");
    }

    @Test
    void hostileLogsAreRefused() {
        String line = record("c -keys=cpu", "a", 1, 0.5).line();
        String tooDeep = "{\"a\": " + "[".repeat(100_000);
        assertThatThrownBy(() -> RecordReader.parse("gASVAAAA\tgASV\tgASV\n", "x.log"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("pickled");
        for (String bad : List.of(
                "[]",
                "{}",
                tooDeep,
                line.replace("0.2", "0.3"),
                line.replace("\"index\": 1", "\"index\": 1e9"),
                line.replace("[[0.5], 0,", "[[0.5], 77,"),
                line + line,
                line.replace("\"c -keys=cpu\"", "\"" + "x".repeat(200_000) + "\""))) {
            assertThatThrownBy(() -> RecordReader.parse(bad + "\n", "x.log"))
                    .as(bad.substring(0, Math.min(80, bad.length())))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("x.log:1: not a tuning record");
        }
    }
}
