// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.artifact.GraphFile;
import io.kiln.artifact.GraphFile.Entry;
import io.kiln.artifact.GraphFile.Node;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The times of a graph's nodes, as the board measured them.
 *
 * @param seconds for each node the mean of one call in each block; 0 where nothing runs
 */
public record NodeProfile(GraphFile graph, List<List<Double>> seconds) {
    private static final double MICROSECONDS = 1e6;
    private static final double PERCENT = 100;
    private static final String DEVICE = "cpu0";

    public NodeProfile {
        seconds = List.copyOf(seconds);
    }

    /** Mean microseconds of a node. */
    public double microseconds(int node) {
        return seconds.get(node).stream()
                        .mapToDouble(Double::doubleValue)
                        .average()
                        .orElse(0)
                * MICROSECONDS;
    }

    public double microseconds() {
        return IntStream.range(0, seconds.size())
                .mapToDouble(this::microseconds)
                .sum();
    }

    /** Begin and end of each node, for Chrome's viewer of traces (about:tracing); times are sums of means. */
    public String trace() {
        List<String> events = new ArrayList<>();
        double now = 0;
        for (int i = 0; i < graph.nodes().size(); i++) {
            String name = new ObjectMapper()
                    .getNodeFactory()
                    .textNode(graph.nodes().get(i).name())
                    .toString();
            events.add(event(now, name, "B"));
            now += microseconds(i);
            events.add(event(now, name, "E"));
        }
        return "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [" + String.join(", ", events) + "]}";
    }

    private static String event(double at, String name, String phase) {
        return "{\"ts\": " + at + ", \"tid\": 1, \"pid\": 1, \"name\": " + name + ", \"ph\": \"" + phase + "\"}";
    }

    /**
     * The report of TVM's profiler (src/runtime/profiling.cc): a call for each operator, and the device's sums. Metrics are {@code
     * {"microseconds": d}}, {@code {"percent": d}}, {@code {"count": i}} and {@code {"string": s}}.
     */
    public String json() {
        ObjectNode root = new ObjectMapper().createObjectNode();
        ArrayNode calls = root.putArray("calls");
        for (int i = 0; i < graph.nodes().size(); i++) {
            Node node = graph.nodes().get(i);
            if (node.isOperator()) {
                ObjectNode call = calls.addObject();
                call.putObject("Name").put("string", node.function());
                call.putObject("Argument Shapes").put("string", shapes(node));
                metrics(call, microseconds(i));
            }
        }
        metrics(root.putObject("device_metrics").putObject(DEVICE), microseconds());
        root.putObject("configuration").putObject("Executor").put("string", "Graph");
        return root.toPrettyString();
    }

    private void metrics(ObjectNode of, double microseconds) {
        double all = microseconds();
        of.putObject("Duration (us)").put("microseconds", microseconds);
        of.putObject("Percent").put("percent", all == 0 ? 0 : PERCENT * microseconds / all);
        of.putObject("Device").put("string", DEVICE);
        of.putObject("Count").put("count", 1);
    }

    private String shapes(Node node) {
        return Stream.concat(
                        node.inputs().stream(),
                        IntStream.range(0, node.outputs()).mapToObj(k -> node.first() + k))
                .map(graph.entries()::get)
                .map(NodeProfile::shape)
                .collect(Collectors.joining(", "));
    }

    private static String shape(Entry entry) {
        return entry.type().name()
                + entry.shape().stream().map(String::valueOf).collect(Collectors.joining(", ", "[", "]"));
    }
}
