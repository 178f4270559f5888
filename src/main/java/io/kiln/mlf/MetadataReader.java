// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.OperatorInfo;
import io.kiln.artifact.ModelMetadata.Plan;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.DType;
import io.kiln.base.Problems;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads one model's part of {@code metadata.json}; the header tells the order of inputs and outputs, which sorted JSON has lost. */
final class MetadataReader {
    private static final long MOST_BYTES = 1L << 40;
    private static final int ALIGNMENT = 16;
    private static final Pattern MEMBER = Pattern.compile("(\\w+)\\s*;");

    private final String where;
    private final Problems problems;
    private final String name;
    private final JsonNode json;
    private final String header;

    MetadataReader(String where, Problems problems, String name, JsonNode json, String header) {
        this.where = where + " of `" + name + "`";
        this.problems = problems;
        this.name = name;
        this.json = json;
        this.header = header;
    }

    ModelMetadata read() {
        if (!contains(json.path("executors"), "aot")) {
            problem("`executors` is " + json.path("executors"), "\"aot\" among them");
        }
        JsonNode functions = json.path("memory").path("functions");
        JsonNode main = functions.path("main").path(0);
        long workspace = size(main, "workspace_size_bytes");
        List<OperatorInfo> operators = new ArrayList<>();
        functions.path("operator_functions").forEach(operator -> operators.add(operator(operator)));
        return new ModelMetadata(
                name,
                target(),
                header.contains("tvmgen_" + name + "_map_inputs") ? Io.WORKSPACE : Io.CALLER,
                tensors(main.path("inputs"), "inputs"),
                tensors(main.path("outputs"), "outputs"),
                workspace,
                ALIGNMENT,
                main.has("constants_size_bytes") ? size(main, "constants_size_bytes") : 0,
                new Plan("not told", workspace, 0, List.of()),
                operators);
    }

    /** A map by device in version 5, a list from 6 on. */
    private String target() {
        JsonNode target = json.path("target");
        if (target.isEmpty()) {
            problem("`target` is " + target, "a target string");
            return "";
        }
        return target.iterator().next().asText("");
    }

    private OperatorInfo operator(JsonNode operator) {
        JsonNode workspace = operator.path("workspace").path(0);
        return new OperatorInfo(
                operator.path("function_name").asText(""),
                "",
                List.of(),
                List.of(),
                0,
                0,
                0,
                workspace.isMissingNode() ? 0 : size(workspace, "workspace_size_bytes"),
                "",
                "");
    }

    private List<TensorInfo> tensors(JsonNode tensors, String side) {
        List<String> order = order(side);
        List<TensorInfo> read = new ArrayList<>();
        tensors.properties().forEach(tensor -> {
            Optional<DType> dtype = Arrays.stream(DType.values())
                    .filter(t -> t.text().equals(tensor.getValue().path("dtype").asText()))
                    .findFirst();
            long bytes = size(tensor.getValue(), "size");
            if (dtype.isEmpty()
                    || bytes % dtype.get().bytes() != 0
                    || bytes / dtype.get().bytes() > Integer.MAX_VALUE) {
                problem(
                        "tensor `" + tensor.getKey() + "` is " + tensor.getValue(),
                        "a known dtype and a size that fits it");
            } else {
                String cName = tensor.getKey().replaceAll("[^A-Za-z0-9]", "_");
                int elements = (int) (bytes / dtype.get().bytes());
                read.add(new TensorInfo(tensor.getKey(), cName, dtype.get(), List.of(elements), 0, 0));
            }
        });
        read.sort(Comparator.comparingInt(t -> order.contains(t.cName()) ? order.indexOf(t.cName()) : order.size()));
        return read;
    }

    /** Members of the header's struct in their order. */
    private List<String> order(String side) {
        List<String> members = new ArrayList<>();
        String opening = "struct tvmgen_" + name + "_" + side + " {";
        int begin = header.indexOf(opening);
        if (begin >= 0) {
            int end = header.indexOf('}', begin);
            Matcher matcher =
                    MEMBER.matcher(header.substring(begin + opening.length(), Math.max(end, begin + opening.length())));
            while (matcher.find()) {
                members.add(matcher.group(1));
            }
        }
        return members;
    }

    private long size(JsonNode node, String key) {
        JsonNode value = node.path(key);
        if (!value.canConvertToLong() || value.asLong() < 0 || value.asLong() > MOST_BYTES) {
            problem("`" + key + "` is " + (value.isMissingNode() ? "missing" : value), "a number of bytes");
            return 0;
        }
        return value.asLong();
    }

    private static boolean contains(JsonNode list, String text) {
        for (JsonNode item : list) {
            if (item.asText("").equals(text)) {
                return true;
            }
        }
        return false;
    }

    private void problem(String what, String expected) {
        problems.add(what, where, expected, "");
    }
}
