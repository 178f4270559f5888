// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DrawnCases;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Operations of all kinds on all configurations of the NPU, each against formulas of the test's own. */
class NpuOperationsTest {
    private static final long SEED = 20260401;

    /** Ethos-U55 with 32 to 256 MACs, Ethos-U65 with 256 and 512. */
    static final List<Integer> CONFIGURATIONS = List.of(0x1005, 0x1006, 0x1807, 0x3008, 0x10003008, 0x10006009);

    @TempDir
    private Path folder;

    @Test
    void allOperationsComputeWhatTheFormulasSay() {
        NpuHost host = NpuHost.compile(folder);
        Random random = new Random(SEED);
        for (int round = 0; round < DrawnCases.atLeast(3); round++) {
            for (int config : CONFIGURATIONS) {
                NpuDraw draw = new NpuDraw(config, random);
                for (int i = 0; i < 8; i++) {
                    draw.convolution(false);
                    draw.convolution(true);
                    draw.pool(i % 3);
                    draw.elementwise();
                    draw.elementwise();
                }
                NpuHost.Answer answer = host.run(draw.job());
                assertThat(answer.exitCode()).as(answer.text()).isZero();
                NpuArena arena = new NpuArena(answer.taken().toArray());
                for (NpuDraw.Drawn each : draw.drawn()) {
                    assertThat(each.ofm().take(arena))
                            .as(each.text() + " to " + each.ofm().type())
                            .isEqualTo(each.expected());
                }
            }
        }
    }

    /** Whoever compares two runs finds the operation: its line is the first that differs. */
    @Test
    void aBrokenConstantShowsInItsOperation() {
        NpuHost host = NpuHost.compile(folder);
        NpuDraw draw = new NpuDraw(CONFIGURATIONS.get(2), new Random(SEED));
        draw.convolution(false);
        draw.convolution(false);
        int bias = draw.lastScales() + 4;
        draw.pool(1);
        List<String> right = host.run(draw.job()).lines(0);
        byte[] broken = draw.flash().toArray();
        broken[bias] ^= 1;
        List<String> wrong = host.run(draw.job(Bytes.wrap(broken))).lines(0);
        assertThat(right).hasSameSizeAs(wrong);
        assertThat(IntStream.range(0, right.size())
                        .filter(i -> !right.get(i).equals(wrong.get(i)))
                        .findFirst())
                .hasValue(1);
    }
}
