// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.draw.RandomOperators;
import io.kiln.reference.Interpreter;
import io.kiln.reference.NeedsShared;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The listing, generated for several cores and run here under sanitizers. */
@NeedsShared("golden")
class PublishedListingTest {
    private static final int CASES = 12;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "c -keys=cpu | SPEED | 5440",
                "c -keys=arm_cpu,cpu -mcpu=cortex-m4 | SPEED | 6800",
                "c -keys=arm_cpu,cpu -mcpu=cortex-m55 | RAM | 6160",
                "c -keys=cpu -march=rv32imac | SIZE | 19520"
            })
    void answersAsTheInterpreterInFarLessMemoryThanTvmNeeds(String target, Optimize optimize, int workspace)
            throws IOException {
        Path text = PublishedListing.write(folder);
        CompiledModel model = ModelCompiler.compile(
                RequestDraft.of(text, target).name("kws").optimize(optimize).build());
        HostProgram program = HostProgram.build(
                folder,
                List.of(model.library().metadata()),
                List.of(model.library().artifacts().artifacts()));
        int distinct = 0;
        Bytes last = Bytes.wrap(new byte[0]);
        for (int i = 0; i < CASES; i++) {
            Bytes input = RandomOperators.input(model.imported().params().get(0).type(), 100 + i);
            Bytes expected = Interpreter.run(model.imported(), List.of(input)).get(0);
            assertThat(program.run(List.of(input))).as("case %d", i).isEqualTo(expected);
            distinct += expected.equals(last) ? 0 : 1;
            last = expected;
        }
        assertThat(distinct).isGreaterThan(CASES / 2);
        assertThat(model.library().metadata().workspaceBytes())
                .isLessThanOrEqualTo(workspace)
                .isLessThan(PublishedListing.TVM_WORKSPACE_BYTES);
    }
}
