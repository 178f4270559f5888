// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.artifact.GraphFile;
import io.kiln.base.Bytes;
import io.kiln.reference.SharedFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** What TVM's debug executor printed and wrote, made again of its times. */
final class DebugDumpTest {
    private static final double MICROSECONDS = 1e6;

    @Test
    void traceAndTableAreThoseOfTvm() throws IOException {
        Path found = SharedFolder.need("tvm").resolve("graph-debug/hello_world_int8");
        String json = Files.readString(found.resolve("lib_graph.json"));
        GraphFile graph = GraphFile.read(Bytes.ofText(json), "lib_graph.json");
        JsonNode trace = new ObjectMapper()
                .readTree(found.resolve(DebugDump.FOLDER)
                        .resolve("_tvmdbg_execution_trace.json")
                        .toFile());
        List<List<Double>> seconds = new ArrayList<>();
        JsonNode events = trace.get("traceEvents");
        for (int i = 0; i < events.size(); i += 2) {
            double taken = events.get(i + 1).get("ts").asDouble()
                    - events.get(i).get("ts").asDouble();
            seconds.add(List.of(taken / MICROSECONDS));
        }
        DebugDump dump = new DebugDump(graph, json, seconds, List.of());

        JsonNode again = new ObjectMapper().readTree(dump.trace());
        assertThat(again.get("displayTimeUnit")).isEqualTo(trace.get("displayTimeUnit"));
        assertThat(again.get("traceEvents")).hasSize(events.size());
        for (int i = 0; i < events.size(); i++) {
            JsonNode event = again.get("traceEvents").get(i);
            for (String key : List.of("name", "ph", "tid", "pid")) {
                assertThat(event.get(key)).isEqualTo(events.get(i).get(key));
            }
            assertThat(event.get("ts").asDouble())
                    .isCloseTo(events.get(i).get("ts").asDouble(), Offset.offset(1e-9));
        }
        // The last digit of a time hangs on how often it was rounded before.
        assertThat(withoutDigits(dump.table())).isEqualTo(withoutDigits(Files.readString(found.resolve("stdout.txt"))));
    }

    private static List<String> withoutDigits(String table) {
        return table.lines()
                .filter(line -> !line.isBlank())
                .map(line -> line.replaceAll("[0-9]+\\.[0-9]+", "N").replaceAll(" +", " "))
                .toList();
    }
}
