// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.incremental.Fingerprint;
import io.kiln.flow.state.Steps.StepState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class StepStateTest {
    @TempDir
    Path folder;

    private Path input;
    private Path output;
    private StepState state;

    @BeforeEach
    void aFinishedStep() throws IOException {
        input = Files.writeString(folder.resolve("in.c"), "int a;");
        output = Files.writeString(folder.resolve("out.o"), "object");
        state = new StepState(folder.resolve("state/compile.json"));
        state.record(now("speed"), folder, List.of(output));
    }

    @Test
    void nothingChangedMeansNoReasonToRun() {
        assertThat(state.reasonToRun(now("speed"), folder)).isEmpty();
    }

    @Test
    void theFirstBuildSaysSo() {
        StepState fresh = new StepState(folder.resolve("state/other.json"));
        assertThat(fresh.reasonToRun(now("speed"), folder)).contains("first build");
    }

    @Test
    void aChangedInputIsNamed() throws IOException {
        Files.writeString(input, "int b;");
        assertThat(state.reasonToRun(now("speed"), folder)).contains("source in.c changed");
    }

    @Test
    void aChangedSettingIsNamedWithBothValues() {
        assertThat(state.reasonToRun(now("size"), folder)).contains("optimize changed from 'speed' to 'size'");
    }

    @Test
    void aNewInputAndAGoneOneAreNamed() {
        Fingerprint now = now("speed").value("flags", "-g");
        assertThat(state.reasonToRun(now, folder)).contains("flags is new");
        assertThat(state.reasonToRun(Fingerprint.of("step").value("optimize", "speed"), folder))
                .contains("source in.c is gone");
    }

    @Test
    void anOutputDeletedOrEditedIsMadeAgain() throws IOException {
        Files.writeString(output, "other");
        assertThat(state.reasonToRun(now("speed"), folder)).contains("out.o was changed by hand");
        Files.delete(output);
        assertThat(state.reasonToRun(now("speed"), folder)).contains("out.o is missing");
    }

    @Test
    void aForgottenOrDamagedStateRunsAgain() throws IOException {
        Files.writeString(folder.resolve("state/compile.json"), "nonsense");
        assertThat(state.reasonToRun(now("speed"), folder)).contains("first build");
        state.forget();
        assertThat(state.reasonToRun(now("speed"), folder)).contains("first build");
    }

    @Test
    void severalReasonsAreCounted() throws IOException {
        Files.writeString(input, "int b;");
        assertThat(state.reasonToRun(now("size"), folder))
                .contains("optimize changed from 'speed' to 'size' and 1 more");
    }

    private Fingerprint now(String optimize) {
        return Fingerprint.of("step").value("source", input).value("optimize", optimize);
    }
}
