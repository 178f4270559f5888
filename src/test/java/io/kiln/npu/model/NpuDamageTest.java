// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.reference.SharedFolder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Damaged command streams, weights and scales on the model of the NPU, under the sanitizers. */
class NpuDamageTest {
    /** Damaged payloads in every build. */
    private static final int CASES = 10_000;

    private static final long SEED = 20260402;

    @TempDir
    private Path folder;

    /** {@code nightly} takes a million cases. */
    @Test
    @Tag(SharedFolder.TAG)
    void damagedPayloadsStayInTheirRegionsAndSayWhereTheyAreWrong() {
        NpuHost host = NpuHost.compile(folder);
        List<NpuJob> jobs = jobs();
        int each = Integer.getInteger("kiln.mutations", CASES) / jobs.size();
        for (NpuJob job : jobs) {
            assertThat(host.damage(job, SEED, each)).matches("[1-9]\\d* of " + each + " ran \\w+\\R");
        }
    }

    /** Own operations for each configuration; a file of Vela's as well if there is one. */
    private static List<NpuJob> jobs() {
        Random random = new Random(SEED);
        List<NpuJob> jobs = new ArrayList<>();
        for (int config : NpuOperationsTest.CONFIGURATIONS) {
            NpuDraw draw = new NpuDraw(config, random);
            draw.pool(1);
            draw.elementwise();
            draw.elementwise();
            draw.convolution(true);
            draw.convolution(false);
            jobs.add(draw.job());
        }
        SharedFolder.find("ethosu").ifPresent(files -> {
            VelaFile file = VelaFile.read(files.resolve("hello_world_int8-u55-128.tflite"));
            jobs.add(file.job(List.of(Bytes.wrap(new byte[1]))));
        });
        return jobs;
    }
}
