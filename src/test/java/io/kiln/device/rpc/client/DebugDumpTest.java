// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.artifact.GraphFile;
import io.kiln.base.Bytes;
import io.kiln.reference.NeedsShared;
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
    @NeedsShared("tvm")
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

    /** The keys and units of TVM's report; percent and sums are of the times. */
    @Test
    void theProfilersReportHasACallForEachOperator() throws IOException {
        GraphFile graph = GraphFile.read(Bytes.ofText("""
            {"nodes": [{"op": "null", "name": "x", "inputs": []},
              {"op": "tvm_op", "name": "f", "inputs": [[0, 0, 0]], "attrs": {"func_name": "f",
               "num_inputs": "1", "num_outputs": "1", "flatten_data": "0"}},
              {"op": "tvm_op", "name": "g", "inputs": [[1, 0, 0]], "attrs": {"func_name": "g",
               "num_inputs": "1", "num_outputs": "1", "flatten_data": "0"}}],
             "arg_nodes": [0], "heads": [[2, 0, 0]], "node_row_ptr": [0, 1, 2, 3],
             "attrs": {"dltype": ["list_str", ["int8", "int8", "int32"]],
              "storage_id": ["list_int", [0, 1, 2]], "shape": ["list_shape", [[1, 4], [2], []]]}}
            """), "small.graph");
        NodeProfile profile = new NodeProfile(graph, List.of(List.of(0.0), List.of(1e-6, 5e-6), List.of(1e-6)));
        JsonNode report = new ObjectMapper().readTree(profile.json());
        assertThat(report.get("calls")).hasSize(2);
        JsonNode first = report.get("calls").get(0);
        assertThat(first.at("/Name/string").asText()).isEqualTo("f");
        assertThat(first.at("/Argument Shapes/string").asText()).isEqualTo("int8[1, 4], int8[2]");
        assertThat(first.at("/Duration (us)/microseconds").asDouble()).isCloseTo(3, Offset.offset(1e-9));
        assertThat(first.at("/Percent/percent").asDouble()).isCloseTo(75, Offset.offset(1e-9));
        assertThat(first.at("/Count/count").asInt()).isEqualTo(1);
        assertThat(report.at("/device_metrics/cpu0/Duration (us)/microseconds").asDouble())
                .isCloseTo(4, Offset.offset(1e-9));
        assertThat(report.at("/configuration/Executor/string").asText()).isEqualTo("Graph");
    }

    private static List<String> withoutDigits(String table) {
        return table.lines()
                .filter(line -> !line.isBlank())
                .map(line -> line.replaceAll("[0-9]+\\.[0-9]+", "N").replaceAll(" +", " "))
                .toList();
    }
}
