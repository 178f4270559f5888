// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.tuning.record.RecordFiles.SharedRecords;
import io.kiln.tuning.record.RecordValue.Text;
import io.kiln.tuning.record.TuningRecord.Config;
import io.kiln.tuning.record.TuningRecord.MeasureError;
import io.kiln.tuning.record.TuningRecord.Result;
import io.kiln.tuning.record.TuningRecord.TaskKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Logs of several boards become one log with the best records. */
class SharedRecordsTest {
    @TempDir
    private Path folder;

    private static TuningRecord record(String model, String layer, long index, double cost) {
        TaskKey task = new TaskKey(
                "c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=" + model,
                "kiln.dense.cortex-m4",
                List.of(new Text(layer)));
        return TuningRecord.of(task, new Config(index, List.of()), new Result(List.of(cost), MeasureError.NONE, 0, 0));
    }

    @Test
    void theBestOfAllLogsIsPacked() throws IOException {
        TuningRecord slow = record("one", "a", 1, 3e-6);
        TuningRecord fast = record("one", "a", 2, 2e-6);
        TuningRecord other = record("two", "b", 3, 1e-6);
        RecordFiles.write(folder.resolve("logs").resolve("one.log"), List.of(slow, fast));
        RecordFiles.write(folder.resolve("logs").resolve("two.log"), List.of(other, fast));
        Files.writeString(folder.resolve("logs").resolve("README.md"), "not a log");
        Path packed = folder.resolve("packed.log");
        assertThat(SharedRecords.pack(folder.resolve("logs"), packed).records()).containsExactly(fast, other);
        assertThat(SharedRecords.read(packed)).isEqualTo(SharedRecords.read(folder.resolve("logs")));
        assertThat(Files.readString(packed)).isEqualTo(fast.line() + "\n" + other.line() + "\n");
    }

    @Test
    void nothingToShareIsSaid() throws IOException {
        assertThatThrownBy(() -> SharedRecords.pack(folder.resolve("none"), folder.resolve("packed.log")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("there are no tuning records to share");
        assertThat(folder.resolve("packed.log")).doesNotExist();
        Files.writeString(folder.resolve("broken.log"), "{\n");
        assertThatThrownBy(() -> SharedRecords.read(folder)).isInstanceOf(KilnException.class);
    }
}
