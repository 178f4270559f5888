// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.artifact.ExecutorKind;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.device.flash.TestOpenOcd;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.report.JsonSchemas;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Measuring on a board: a virtual one, whose description says that its timer counts cycles. */
final class BoardProfileTest {
    private static final double MOST_ADDED = 120;

    @TempDir
    private Path folder;

    private final KeptLog log = new KeptLog();
    private final Flow flow = new Flow(log, TestToolchains.environment(log));

    @Test
    void aBoardMeasuresTimeAndCyclesAndAVirtualOneTheSameOnEveryRun() throws IOException {
        TestOpenOcd.get();
        Path board = folder.resolve("src/main/boards/counting/board.yaml");
        Files.createDirectories(board.getParent());
        Files.writeString(board, """
                schema: 1
                id: counting
                extends: virtual-stm32f405
                clock: {hertz: 1000000000, limit: 1000000000}
                timer: {counter: TIM2 as fast as the core, cycles: true}
                """);
        BuildSpec spec = new GestureProject(folder)
                .spec("counting")
                .application("rpc")
                .calls(Optional.empty(), true, Optional.empty(), false)
                .verify(GestureProject.UNVERIFIED)
                .build();

        flow.profile(spec, DeviceSpec.USUAL);
        String text = new GestureProject(folder).text("kiln/profile.json");
        flow.profile(spec, DeviceSpec.USUAL);

        assertThat(new GestureProject(folder).text("kiln/profile.json")).isEqualTo(text);
        JsonSchemas.assertFits("profile", text);
        JsonNode profile = new GestureProject(folder).json("kiln/profile.json");
        assertThat(profile.path("deterministic").asBoolean()).isTrue();
        JsonNode time = profile.path("times").get(0);
        assertThat(time.path("model").asText()).isEqualTo("gesture");
        assertThat(time.path("cycles").asLong()).isPositive();
        assertThat(time.path("microseconds").asDouble() * 1000)
                .isCloseTo(time.path("cycles").asDouble(), within(0.5));
        assertThatThrownBy(() -> flow.profile(new GestureProject(folder).gnu("counting"), DeviceSpec.USUAL))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("a board measures by an RPC server, and the models have no system library")
                .hasMessageContaining("Set kiln.application to rpc");
        eachOperatorOfAGraph(
                SpecDraft.of(spec).executor(ExecutorKind.GRAPH, true).build());
        assertThat(log.said()).anyMatch(line -> line.matches("One run of gesture on counting, .* us, [0-9,]+ cycles"));
    }

    /** The operators of a graph are measured one by one, and little is added to what each takes. */
    private void eachOperatorOfAGraph(BuildSpec graph) throws IOException {
        flow.profile(graph, DeviceSpec.USUAL);
        GestureProject project = new GestureProject(folder);
        JsonSchemas.assertFits("profile", project.text("kiln/profile.json"));
        JsonSchemas.assertFits("report", project.text("kiln/report.json"));
        JsonNode profile = project.json("kiln/profile.json");
        double sum = 0;
        for (JsonNode operator : profile.path("operators")) {
            assertThat(operator.path("cycles").asLong()).isPositive();
            sum += operator.path("microseconds").asDouble();
        }
        assertThat(profile.path("times").get(0).path("microseconds").asDouble()).isCloseTo(sum, within(0.001));
        assertThat(profile.path("operators")).hasSizeGreaterThan(2);
        assertThat(project.json("kiln/report.json").path("operators").get(0).path("microseconds"))
                .isEqualTo(profile.path("operators").get(0).path("microseconds"));
        assertThat(project.json("kiln/trace-gesture.json").path("traceEvents"))
                .hasSizeGreaterThanOrEqualTo(2 * profile.path("operators").size());
        assertThat(log.said())
                .anyMatch(line -> line.matches("All operators of gesture on counting, .* us, [0-9,]+ cycles"))
                .anyMatch(line -> line.matches(" *[0-9.,]+ us +[0-9.]+ %  tvmgen_gesture_fused_.*"));
        flow.inspect(graph, Optional.empty(), GivenInputs.NONE);
        assertThat(project.text("kiln/graph-gesture.html")).contains(" us, ").contains(" cycles");

        flow.profile(SpecDraft.of(graph).application("console").build());
        JsonNode counted = project.json("kiln/profile.json").path("operators");
        for (int i = 0; i < counted.size(); i++) {
            JsonNode timed = profile.path("operators").get(i);
            assertThat(counted.get(i).path("name")).isEqualTo(timed.path("name"));
            // An instruction takes a nanosecond.
            assertThat(timed.path("microseconds").asDouble() * 1000
                            - counted.get(i).path("instructions").asLong())
                    .as("instructions added by measuring")
                    .isBetween(0.0, MOST_ADDED);
        }
    }
}
