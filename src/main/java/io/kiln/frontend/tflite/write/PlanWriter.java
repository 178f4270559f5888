// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.base.Bytes;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.write.Emission.NodeWriter;
import io.kiln.frontend.tflite.write.Emission.Options;
import io.kiln.ir.Arg;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.Resize2d;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.layer.TransposedConvolutions.Conv2dTranspose;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.plan.Format;
import io.kiln.quantize.plan.Plan;
import io.kiln.quantize.plan.Plan.PlannedNode;
import io.kiln.quantize.plan.Planner.States;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Writes a plan as a TensorFlow Lite model. Operators that TensorFlow Lite lacks become custom operators. */
final class PlanWriter {
    /** Prefix of the names of custom operators; the node's place in the plan follows. */
    static final String CUSTOM = "kiln.node.";

    private static final Map<Class<? extends Op>, NodeWriter> WRITERS = writers();

    private final Plan plan;
    private final GraphWriter graph = new GraphWriter();
    private final Map<String, PlannedNode> custom = new LinkedHashMap<>();
    private final Map<Integer, String> names = new HashMap<>();

    PlanWriter(Plan plan) {
        this.plan = plan;
    }

    /**
     * A written plan.
     *
     * @param custom the nodes that became custom operators, by the operator's name
     * @param names the name of the tensor of each node's output
     * @param dense the names of tensors that convolutions for fully connected layers compute
     */
    record Written(Bytes file, Map<String, PlannedNode> custom, Map<Integer, String> names, Set<String> dense) {}

    private static Map<Class<? extends Op>, NodeWriter> writers() {
        NodeWriter layers = new LayerWriter();
        NodeWriter pools = LayerWriter::pool;
        NodeWriter elements = new ElementWriter();
        NodeWriter movements = new MovementWriter();
        Map<Class<? extends Op>, NodeWriter> writers = new HashMap<>();
        Stream.of(Conv2d.class, Dense.class, Conv2dTranspose.class).forEach(op -> writers.put(op, layers));
        Stream.of(AvgPool2d.class, MaxPool2d.class).forEach(op -> writers.put(op, pools));
        Stream.of(Softmax.class, LeakyRelu.class, Clip.class, Unary.class, Binary.class)
                .forEach(op -> writers.put(op, elements));
        Stream.of(
                        Reshape.class,
                        Transpose.class,
                        Concatenate.class,
                        StridedSlice.class,
                        Pad.class,
                        Resize2d.class,
                        Take.class,
                        BroadcastTo.class,
                        TflBatchMatmul.class,
                        Reduce.class)
                .forEach(op -> writers.put(op, movements));
        writers.put(Svdf.class, RecurrentWriter::svdf);
        writers.put(Lstm.class, RecurrentWriter::lstm);
        return Map.copyOf(writers);
    }

    /** Whether an operator becomes one of TensorFlow Lite's. */
    static boolean knows(Op op) {
        return WRITERS.containsKey(op.getClass()) && WRITERS.get(op.getClass()).knows(op);
    }

    Written write() {
        Function function = plan.function();
        function.params().forEach(parameter -> graph.reserve(parameter.name()));
        function.results().forEach(result -> graph.reserve(result.name()));
        List<Integer> inputs = new ArrayList<>();
        for (Parameter parameter : function.params()) {
            Format format = plan.border().inputs().get(parameter.id());
            int tensor = graph.reserved(parameter.name(), parameter.type(), format);
            inputs.add(tensor);
            graph.define(parameter.id(), tensor);
        }
        Map<Integer, String> resultNames = resultNames();
        for (PlannedNode node : plan.nodes()) {
            write(node, Optional.ofNullable(resultNames.get(node.node().output())));
        }
        List<Integer> outputs = outputs();
        return new Written(graph.file(inputs, outputs), Map.copyOf(custom), Map.copyOf(names), graph.dense());
    }

    /** The names of nodes whose own result is a result of the model. */
    private Map<Integer, String> resultNames() {
        Map<Integer, Format> own = new HashMap<>();
        plan.nodes().forEach(node -> own.put(node.node().output(), node.output()));
        Map<Integer, String> found = new HashMap<>();
        for (int i = 0; i < plan.function().results().size(); i++) {
            Result result = plan.function().results().get(i);
            if (plan.border().outputs().get(i).equals(own.get(result.id()))) {
                found.putIfAbsent(result.id(), result.name());
            }
        }
        return found;
    }

    private void write(PlannedNode node, Optional<String> resultName) {
        TensorType type = node.node().type();
        boolean isEmpty = type.shape().elements() == 0;
        TensorType stored = isEmpty ? new TensorType(Shape.of(1), type.dtype()) : type;
        int output = resultName
                .map(name -> graph.reserved(name, stored, node.output()))
                .orElseGet(() -> graph.tensor(node.node().name(), stored, node.output()));
        names.put(node.node().output(), graph.entry(output).name());
        NodeWriter writer = WRITERS.getOrDefault(node.node().op().getClass(), any -> false);
        boolean isWritable = !isEmpty && States.areZero(plan.function(), node.node());
        if (!isWritable || !writer.write(new Emission(node, graph, output))) {
            writeCustom(node, output);
        }
        graph.define(node.node().output(), output);
    }

    private void writeCustom(PlannedNode node, int output) {
        String name = CUSTOM + custom.size();
        custom.put(name, node);
        Set<Integer> variables =
                plan.function().variables().stream().map(v -> v.id()).collect(Collectors.toSet());
        List<Integer> inputs = new ArrayList<>();
        for (int i = 0; i < node.node().args().size(); i++) {
            if (node.node().args().get(i) instanceof Arg.Ref ref && !variables.contains(ref.id())) {
                inputs.add(graph.value(
                        ref, Format.plain(node.node().argTypes().get(i).dtype())));
            }
        }
        if (inputs.isEmpty()) {
            inputs.add(graph.ints(name, List.of(0)));
        }
        graph.custom(name, inputs, output);
    }

    private List<Integer> outputs() {
        List<Integer> outputs = new ArrayList<>();
        for (int i = 0; i < plan.function().results().size(); i++) {
            Result result = plan.function().results().get(i);
            int own = graph.own(result.id());
            boolean isNamed = graph.entry(own).name().equals(result.name()) && !outputs.contains(own);
            outputs.add(
                    isNamed ? own : named(own, result, plan.border().outputs().get(i)));
        }
        return outputs;
    }

    /** A value under the name of a result, in the format of that result. */
    private int named(int tensor, Result result, Format format) {
        TensorType type = graph.entry(tensor).type();
        int named = graph.reserved(result.name(), type, format);
        if (graph.format(tensor).equals(format)) {
            List<Integer> inputs = List.of(
                    tensor, graph.ints(result.name() + "/shape", type.shape().dims()));
            graph.operator(BuiltinOperator.RESHAPE, 1, inputs, named, Options.NONE);
        } else {
            graph.convert(tensor, named);
        }
        return named;
    }
}
