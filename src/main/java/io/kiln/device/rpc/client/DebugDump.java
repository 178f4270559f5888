// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.artifact.GraphFile;
import io.kiln.artifact.GraphFile.Entry;
import io.kiln.artifact.GraphFile.Node;
import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The results of debugging a model, in the form in which TVM's debug executor writes them (python/tvm/contrib/debugger/debug_result.py).
 *
 * @param json the same as text
 * @param seconds of each node, as {@link DebugExecutor#runIndividual} gives them
 * @param outputs of each entry, as {@link DebugExecutor#outputs} gives them
 */
public record DebugDump(GraphFile graph, String json, List<List<Double>> seconds, List<Bytes> outputs) {
    /** The folder that TVM makes for the CPU. */
    public static final String FOLDER = "_tvmdbg_device_CPU_0";

    private static final double MICROSECONDS = 1e6;
    private static final int DECIMALS = 3;
    private static final double PERCENT = 100;
    private static final int INDENTATION = 4;
    private static final List<String> COLUMNS =
            List.of("Node Name", "Ops", "Time(us)", "Time(%)", "Shape", "Inputs", "Outputs", "Measurements(us)");

    public DebugDump {
        seconds = List.copyOf(seconds);
        outputs = List.copyOf(outputs);
    }

    /**
     * Writes graph, trace and tensors into {@value #FOLDER}.
     *
     * @param root the folder in which that lies
     * @return the folder with the files
     */
    public Path write(Path root) {
        Path folder = root.resolve(FOLDER);
        WholeFiles.write(folder.resolve("_tvmdbg_graph_dump.json"), graphText());
        WholeFiles.write(folder.resolve("_tvmdbg_execution_trace.json"), trace());
        WholeFiles.write(folder.resolve("output_tensors.params"), tensors().toArray());
        return folder;
    }

    /** The graph with each node's function, and the type and shape of its first output. */
    String graphText() {
        try {
            ObjectMapper mapper = new ObjectMapper();
            ObjectNode root = (ObjectNode) mapper.readTree(json);
            ArrayNode nodes = (ArrayNode) root.get("nodes");
            for (int i = 0; i < nodes.size(); i++) {
                nodes.set(i, node((ObjectNode) nodes.get(i), graph.nodes().get(i)));
            }
            DefaultIndenter indenter = new DefaultIndenter(" ".repeat(INDENTATION), "\n");
            DefaultPrettyPrinter printer = new DefaultPrettyPrinter();
            printer.indentArraysWith(indenter);
            printer.indentObjectsWith(indenter);
            return mapper.writer(printer).writeValueAsString(root);
        } catch (JsonProcessingException e) {
            throw new KilnException(
                    Failure.RPC.problem("the graph is not JSON: " + e.getOriginalMessage(), "graph"), e);
        }
    }

    private ObjectNode node(ObjectNode stated, Node node) {
        ObjectNode shown = stated.objectNode();
        shown.put("op", node.isGiven() ? "param" : node.function());
        shown.put("name", node.name());
        ObjectNode attributes = stated.objectNode();
        JsonNode known = stated.has("attrs") ? stated.path("attrs") : stated.path("attr");
        known.properties().forEach(entry -> attributes.set(entry.getKey(), entry.getValue()));
        ArrayNode inputs = stated.arrayNode();
        node.inputs().forEach(input -> inputs.add(owner(input).name()));
        ArrayNode shape = stated.arrayNode();
        if (node.outputs() > 0) {
            Entry first = graph.entries().get(node.first());
            attributes.put("T", "type: " + first.type().name());
            first.shape().forEach(shape::add);
        }
        shown.set("attrs", attributes);
        shown.set("inputs", inputs);
        shown.set("shape", shape);
        return shown;
    }

    private Node owner(int entry) {
        return graph.nodes().stream()
                .filter(node -> entry >= node.first() && entry < node.first() + node.outputs())
                .findFirst()
                .orElseThrow();
    }

    /** Begin and end of each node, for Chrome's viewer of traces. */
    String trace() {
        return new NodeProfile(graph, seconds).trace();
    }

    /** The file of all entries, by node and output. */
    Bytes tensors() {
        List<NamedTensor> tensors = new ArrayList<>();
        for (int i = 0; i < graph.nodes().size(); i++) {
            Node node = graph.nodes().get(i);
            for (int k = 0; k < node.outputs(); k++) {
                Entry entry = graph.entries().get(node.first() + k);
                String name = node.name() + "____topo-index:" + i + "____output-num:" + k;
                Bytes content = outputs.get(node.first() + k);
                // Tensors of element types that Kiln does not have are left out.
                entry.type()
                        .dtype()
                        .ifPresent(dtype -> tensors.add(new NamedTensor(name, dtype, entry.shape(), content)));
            }
        }
        return ParameterFile.write(tensors);
    }

    private double mean(int node) {
        return seconds.get(node).stream()
                .mapToDouble(Double::doubleValue)
                .average()
                .orElse(0);
    }

    /** The operators by their times, the longest first, and the sum. */
    public String table() {
        double total =
                IntStream.range(0, seconds.size()).mapToDouble(this::mean).sum();
        List<List<String>> rows = new ArrayList<>();
        rows.add(COLUMNS);
        rows.add(COLUMNS.stream().map(column -> "-".repeat(column.length())).toList());
        IntStream.range(0, graph.nodes().size())
                .filter(i -> !graph.nodes().get(i).isGiven())
                .boxed()
                .sorted(Comparator.comparingDouble(this::mean).reversed())
                .forEach(i -> rows.add(row(i, total)));
        List<String> sum = new ArrayList<>(List.of("Total_time", "-", rounded(total * MICROSECONDS)));
        sum.addAll(Collections.nCopies(COLUMNS.size() - sum.size(), "-"));
        rows.add(sum);
        int[] widths = IntStream.range(0, COLUMNS.size())
                .map(column -> rows.stream()
                                .mapToInt(row -> row.get(column).length())
                                .max()
                                .orElse(0)
                        + 2)
                .toArray();
        return rows.stream()
                .map(row -> IntStream.range(0, row.size())
                        .mapToObj(i ->
                                row.get(i) + " ".repeat(widths[i] - row.get(i).length()))
                        .collect(Collectors.joining()))
                .collect(Collectors.joining("\n", "", "\n"));
    }

    private List<String> row(int index, double total) {
        Node node = graph.nodes().get(index);
        String shape = node.outputs() == 0
                ? "()"
                : graph.entries().get(node.first()).shape().stream()
                        .map(String::valueOf)
                        .collect(Collectors.joining(", ", "(", ")"));
        return List.of(
                node.name(),
                node.function(),
                rounded(mean(index) * MICROSECONDS),
                rounded(total == 0 ? 0 : PERCENT * mean(index) / total),
                shape,
                String.valueOf(node.inputs().size()),
                String.valueOf(node.outputs()),
                seconds.get(index).stream()
                        .map(one -> rounded(one * MICROSECONDS))
                        .collect(Collectors.joining(", ", "[", "]")));
    }

    /** A number as Python's {@code str(round(value, 3))} prints it. */
    private static String rounded(double value) {
        BigDecimal rounded =
                new BigDecimal(value).setScale(DECIMALS, RoundingMode.HALF_EVEN).stripTrailingZeros();
        return (rounded.scale() < 1 ? rounded.setScale(1, RoundingMode.UNNECESSARY) : rounded).toPlainString();
    }
}
