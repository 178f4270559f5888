// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.OperatorInfo;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Group;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.Variable;
import io.kiln.ir.type.TensorType;
import io.kiln.report.graph.Graph;
import io.kiln.report.graph.Graph.Block;
import io.kiln.report.graph.Graph.Box;
import io.kiln.report.graph.Graph.Edge;
import io.kiln.report.graph.Graph.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** A compiled model as a graph to look at: a block for each input, fused group and output. */
final class ModelGraph {
    private static final List<String> SHOWN = List.of("kernel_size", "pool_size", "strides");

    private final Function fused;
    private final Map<Integer, Long> macs;
    private final Map<Integer, Integer> blockOf = new HashMap<>();
    private final List<Block> blocks = new ArrayList<>();
    private final Set<Edge> edges = new LinkedHashSet<>();

    private ModelGraph(CompiledModel model) {
        this.fused = model.stages().get(model.stages().size() - 1).function();
        this.macs = model.imported().bindings().stream().collect(Collectors.toMap(Binding::id, Binding::macs));
    }

    /**
     * The graph of a model after all passes.
     *
     * @param file what the page says the model comes from
     */
    static Graph of(CompiledModel model, String file) {
        ModelGraph graph = new ModelGraph(model);
        graph.fused.params().forEach(graph::add);
        graph.fused.variables().forEach(graph::add);
        Map<Integer, Binding> bindings = graph.fused.bindingsById();
        graph.fused.groups().forEach(group -> graph.add(group, bindings));
        Map<Integer, TensorType> types = graph.fused.types();
        graph.fused.results().forEach(result -> graph.add(result, types.get(result.id())));
        ModelMetadata metadata = model.library().metadata();
        List<String> summary = List.of(
                file + " for " + metadata.target(),
                number(metadata.operators().size()) + " operators in C, "
                        + number(metadata.operators().stream()
                                .mapToLong(OperatorInfo::macs)
                                .sum())
                        + " MACs, " + number(metadata.constantBytes()) + " bytes of constants, "
                        + number(metadata.workspaceBytes()) + " bytes of workspace");
        return new Graph("Model " + metadata.name(), summary, graph.blocks, List.copyOf(graph.edges));
    }

    private void add(Parameter parameter) {
        blockOf.put(parameter.id(), blocks.size());
        blocks.add(end(Kind.INPUT, parameter.name(), parameter.type()));
    }

    private void add(Variable variable) {
        blockOf.put(variable.id(), blocks.size());
        blocks.add(end(Kind.VARIABLE, variable.name(), variable.type()));
    }

    private void add(Result result, TensorType type) {
        edges.add(new Edge(blockOf.get(result.id()), blocks.size()));
        blocks.add(end(Kind.OUTPUT, result.name(), type));
    }

    private static Block end(Kind kind, String name, TensorType type) {
        String what = kind.name().toLowerCase(Locale.ROOT) + " " + name;
        return new Block(kind, "", List.of(new Box(List.of(what, sized(type)), what + "\n" + type.text())));
    }

    private void add(Group group, Map<Integer, Binding> bindings) {
        Set<Integer> own = Set.copyOf(group.bindings());
        List<Box> boxes = new ArrayList<>();
        for (int id : group.bindings()) {
            Binding binding = bindings.get(id);
            boxes.add(box(binding));
            for (Arg arg : binding.args()) {
                if (arg instanceof Arg.Ref ref && !own.contains(ref.id())) {
                    edges.add(new Edge(blockOf.get(ref.id()), blocks.size()));
                }
            }
        }
        blockOf.put(group.output(), blocks.size());
        blocks.add(new Block(Kind.OPERATOR, group.name(), boxes));
    }

    private Box box(Binding binding) {
        List<String> lines = new ArrayList<>();
        lines.add(binding.op().name() + shown(binding));
        lines.add(sized(binding.type()));
        long products = macs.getOrDefault(binding.id(), 0L);
        long constants = 0;
        StringBuilder tooltip = new StringBuilder(binding.origin().text())
                .append('\n')
                .append(binding.op().name())
                .append(' ')
                .append(binding.op().attributes());
        for (Arg arg : binding.args()) {
            if (arg instanceof Constant constant) {
                constants += constant.type().bytes();
                tooltip.append("\nconstant ")
                        .append(constant.name().isEmpty() ? "" : "`" + constant.name() + "` ")
                        .append(sized(constant.type()));
            }
        }
        if (products > 0) {
            lines.add(number(products) + " MACs");
        }
        if (constants > 0) {
            lines.add("constants " + number(constants) + " bytes");
        }
        return new Box(lines, tooltip.toString());
    }

    private static String shown(Binding binding) {
        return SHOWN.stream()
                .filter(binding.op().attributes()::containsKey)
                .map(name -> " " + name + "="
                        + binding.op().attributes().get(name).toString().replace(" ", ""))
                .collect(Collectors.joining());
    }

    private static String sized(TensorType type) {
        return type.dtype().text() + " " + type.shape().text() + ", " + number(type.bytes()) + " bytes";
    }

    private static String number(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }
}
