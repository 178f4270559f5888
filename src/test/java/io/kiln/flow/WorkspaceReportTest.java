// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Log;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class WorkspaceReportTest {
    @TempDir
    Path folder;

    private final Flow flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET));

    @Test
    void theReportShowsWhatLiesInTheWorkspace() throws IOException {
        GestureProject project = new GestureProject(folder);
        flow.build(project.spec("mps2-an386").verify(GestureProject.UNVERIFIED).build(), DeviceSpec.USUAL);
        JsonNode plan = project.json("kiln/report.json").path("plan");
        List<JsonNode> buffers = new ArrayList<>();
        plan.path("buffers").forEach(buffers::add);
        assertThat(buffers.stream().mapToLong(WorkspaceReportTest::end).max())
                .hasValue(plan.path("bytes").asLong());
        for (JsonNode one : buffers) {
            List<String> sharing = buffers.stream()
                    .filter(other -> !other.equals(one) && end(other) > start(one) && end(one) > start(other))
                    .map(other -> other.path("name").asText())
                    .toList();
            List<String> told = new ArrayList<>();
            one.path("overlaps").forEach(name -> told.add(name.asText()));
            assertThat(sharing).containsAll(told);
            assertThat(told.isEmpty()).isEqualTo(sharing.isEmpty());
        }
        assertThat(buffers).anyMatch(buffer -> !buffer.path("overlaps").isEmpty());
    }

    private static long start(JsonNode buffer) {
        return buffer.path("offset").asLong();
    }

    private static long end(JsonNode buffer) {
        return start(buffer) + buffer.path("bytes").asLong();
    }
}
