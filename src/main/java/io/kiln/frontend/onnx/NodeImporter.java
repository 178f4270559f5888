// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.frontend.GraphProblems;
import io.kiln.frontend.onnx.OnnxModelImporter.StatedTypes;
import io.kiln.frontend.onnx.control.ControlImporters;
import io.kiln.frontend.onnx.elementwise.OnnxElementwiseImporters;
import io.kiln.frontend.onnx.layer.OnnxLayerImporters;
import io.kiln.frontend.onnx.ml.LearningImporters;
import io.kiln.frontend.onnx.model.OnnxModel;
import io.kiln.frontend.onnx.model.OnnxModel.OnnxFunction;
import io.kiln.frontend.onnx.model.OnnxModel.OnnxGraph;
import io.kiln.frontend.onnx.model.OnnxModel.OnnxValueInfo;
import io.kiln.frontend.onnx.model.OnnxModel.Opsets;
import io.kiln.frontend.onnx.model.OnnxNode;
import io.kiln.frontend.onnx.model.OnnxNode.OnnxAttribute;
import io.kiln.frontend.onnx.movement.OnnxMovementImporters;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.NodeContext.Bodies;
import io.kiln.frontend.onnx.operator.NodeContext.Scope;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.frontend.onnx.quantized.QuantizedImporters;
import io.kiln.frontend.onnx.quantized.QuantizedNodes;
import io.kiln.frontend.onnx.recurrent.RecurrentImporter;
import io.kiln.frontend.onnx.reduce.ReduceImporters;
import io.kiln.frontend.onnx.tensor.TensorImporters;
import io.kiln.ir.GraphBuilder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Imports nodes in order, and the nodes of functions and bodies in their place; collects all errors. */
final class NodeImporter implements Bodies {
    private static final int MAX_DEPTH = 16;
    private static final int MAX_NODES = 1 << 18;

    private final OnnxModel model;
    private final GraphBuilder graph;
    private final GraphProblems problems;
    private final Map<String, OnnxFunction> functions;
    private StatedTypes stated;
    private Opsets opsets;
    private int depth;
    private int imported;
    private int bodies;
    private boolean isTooLarge;

    /**
     * An importer of one model.
     *
     * @param stated the types that the model states for its values
     */
    NodeImporter(OnnxModel model, StatedTypes stated, GraphBuilder graph, GraphProblems problems) {
        this.model = model;
        this.stated = stated;
        this.graph = graph;
        this.problems = problems;
        this.opsets = model.opsets();
        this.functions = model.functions().stream()
                .collect(Collectors.toMap(
                        f -> OnnxRegistration.key(f.domain(), f.name()),
                        Function.identity(),
                        (first, second) -> first));
    }

    /** Imports a graph's constants and nodes. */
    void run(OnnxGraph body, Scope scope) {
        body.initializers()
                .values()
                .forEach(tensor -> scope.define(tensor.name(), new OnnxValue(tensor.constant(), tensor.type())));
        run(body.nodes(), scope);
    }

    @Override
    public List<OnnxValue> run(OnnxGraph body, List<OnnxValue> inputs, Scope around) {
        limit(++bodies, "runs of bodies after its loops are expanded");
        Scope scope = new Scope(Optional.of(around));
        for (int i = 0; i < Math.min(inputs.size(), body.inputs().size()); i++) {
            scope.define(body.inputs().get(i).name(), inputs.get(i));
        }
        int before = problems.found();
        nested(() -> stating(stated.ofBody(body), () -> run(body, scope)));
        if (problems.found() > before) {
            problems.throwIfAny();
        }
        return body.outputs().stream().map(output -> result(output, scope)).toList();
    }

    private void stating(StatedTypes inside, Runnable body) {
        StatedTypes outside = stated;
        stated = inside;
        try {
            body.run();
        } finally {
            stated = outside;
        }
    }

    private OnnxValue result(OnnxValueInfo output, Scope scope) {
        return scope.value(output.name())
                .orElseThrow(() -> Failure.OPERATOR.exception(
                        "a body does not compute its output `" + output.name() + "`",
                        model.file(),
                        "a value of that name"));
    }

    private void nested(Runnable body) {
        if (depth == MAX_DEPTH) {
            isTooLarge = true;
            throw Failure.OPERATOR.exception(
                    "functions and bodies are nested more than " + MAX_DEPTH + " deep",
                    model.file(),
                    "no recursion",
                    "Export a flatter model");
        }
        depth++;
        try {
            body.run();
        } finally {
            depth--;
        }
    }

    private void run(List<OnnxNode> nodes, Scope scope) {
        for (OnnxNode node : nodes) {
            if (isTooLarge || problems.tooMany()) {
                return;
            }
            limit(++imported, "nodes after its functions and loops are expanded");
            boolean isWhole = node.inputs().stream().noneMatch(scope::isFailed);
            if (!isWhole || !imports(node, scope)) {
                node.outputs().stream().filter(name -> !name.isEmpty()).forEach(scope::fail);
            }
        }
    }

    private void limit(int count, String what) {
        if (count > MAX_NODES) {
            isTooLarge = true;
            throw Failure.OPERATOR.exception(
                    "the model has more than " + MAX_NODES + " " + what, model.file(), "a model for a microcontroller");
        }
    }

    private boolean imports(OnnxNode node, Scope scope) {
        int before = problems.found();
        try {
            OnnxFunction function = functions.get(node.type());
            if (function != null) {
                nested(() -> call(function, node, scope));
            } else {
                importOperator(node, scope);
            }
            checkStated(node, scope);
        } catch (KilnException e) {
            problems.addAll(e.problems());
        }
        return problems.found() == before;
    }

    private void importOperator(OnnxNode node, Scope scope) {
        Optional<OnnxRegistration> found = OnnxOperators.find(node.domain(), node.operator());
        int version = opsets.version(node.domain()).orElse(1);
        if (found.isEmpty()) {
            UnsupportedOperators.Refusal refusal = UnsupportedOperators.of(node.domain(), node.operator());
            throw refused(node, refusal.reason(), "one of the operators that the documentation lists", refusal.next());
        }
        int since = found.get().since();
        int until = found.get().until();
        if (version < since || version > until) {
            throw refused(
                    node,
                    "of version " + version + " is not supported",
                    "version " + since + " to " + until,
                    "Export the model with opset_version="
                            + (version < since ? "" + until : until + " or an older one"));
        }
        checkInputs(node, scope);
        NodeContext context = new NodeContext(
                node, version, new NodeContext.Surroundings(graph, scope, this, model.file(), imported - 1));
        emit(found.orElseThrow(), context);
        checkOutputs(node, scope);
    }

    private KilnException refused(OnnxNode node, String reason, String expected, String next) {
        return Failure.OPERATOR.exception(node.type() + " " + reason, node.where(model.file()), expected, next);
    }

    /** Shapes and attributes that no importer expects, such as too few dimensions, are an error of the model. */
    private static void emit(OnnxRegistration registration, NodeContext context) {
        try {
            QuantizedNodes.emit(registration.importer(), context);
        } catch (IndexOutOfBoundsException | ArithmeticException | IllegalArgumentException e) {
            String types = IntStream.range(0, context.inputs())
                    .filter(context::has)
                    .mapToObj(i -> context.type(context.arg(i)).text())
                    .collect(Collectors.joining(", "));
            throw context.failure("its inputs " + types + " do not fit each other", "those of the operator");
        }
    }

    private void checkInputs(OnnxNode node, Scope scope) {
        for (String name : node.inputs()) {
            if (!name.isEmpty() && scope.value(name).isEmpty()) {
                throw Failure.OPERATOR.exception(
                        "its input `" + name + "` does not exist",
                        node.where(model.file()),
                        "the name of an input, a constant or a result of another node",
                        "Correct the name in the tool that wrote the file, or export the model again");
            }
        }
    }

    private void checkOutputs(OnnxNode node, Scope scope) {
        for (String name : node.outputs()) {
            if (!name.isEmpty() && scope.value(name).isEmpty()) {
                throw Failure.OPERATOR.exception(
                        "its output `" + name + "` is not supported",
                        node.where(model.file()),
                        "a model that does not use this output",
                        "Export the model for inference");
            }
        }
    }

    private void checkStated(OnnxNode node, Scope scope) {
        for (String name : node.outputs()) {
            scope.value(name).ifPresent(value -> stated.compare(node, name, value, graph, problems));
        }
    }

    /** Imports the nodes of a function in place of its call. */
    private void call(OnnxFunction function, OnnxNode node, Scope scope) {
        checkInputs(node, scope);
        Scope inner = new Scope(Optional.empty());
        for (int i = 0; i < Math.min(function.inputs().size(), node.inputs().size()); i++) {
            String formal = function.inputs().get(i);
            scope.value(node.inputs().get(i)).ifPresent(value -> inner.define(formal, value));
        }
        Map<String, OnnxAttribute> given = new HashMap<>(function.defaults());
        given.putAll(node.attributes());
        List<OnnxNode> nodes = new ArrayList<>();
        function.nodes().forEach(n -> nodes.add(bound(n, given, inner, function.inputs())));
        Opsets outer = opsets;
        opsets = function.opsets();
        try {
            stating(StatedTypes.NONE, () -> run(nodes, inner));
        } finally {
            opsets = outer;
        }
        for (int i = 0; i < Math.min(function.outputs().size(), node.outputs().size()); i++) {
            String actual = node.outputs().get(i);
            Optional<OnnxValue> value = inner.value(function.outputs().get(i));
            if (!actual.isEmpty()) {
                value.ifPresent(v -> scope.define(actual, v));
            }
        }
    }

    /**
     * A node of a function with the attributes of a call in place of references to them, and without inputs that the
     * call leaves out.
     *
     * @param given attributes of the call
     * @param scope values of the inputs that the call gives
     * @param formals names of the function's inputs
     */
    private static OnnxNode bound(OnnxNode node, Map<String, OnnxAttribute> given, Scope scope, List<String> formals) {
        Map<String, OnnxAttribute> attributes = new HashMap<>();
        node.attributes().forEach((name, value) -> {
            if (!(value instanceof OnnxAttribute.Reference reference)) {
                attributes.put(
                        name, value instanceof OnnxAttribute.Body body ? bound(body, given, scope, formals) : value);
            } else if (given.containsKey(reference.name())) {
                attributes.put(name, given.get(reference.name()));
            }
        });
        List<String> inputs = node.inputs().stream()
                .map(name -> formals.contains(name) && scope.value(name).isEmpty() ? "" : name)
                .toList();
        return new OnnxNode(
                node.index(), node.name(), node.domain(), node.operator(), inputs, node.outputs(), attributes);
    }

    private static OnnxAttribute bound(
            OnnxAttribute.Body body, Map<String, OnnxAttribute> given, Scope scope, List<String> formals) {
        OnnxGraph graph = body.value();
        return new OnnxAttribute.Body(new OnnxGraph(
                graph.name(),
                graph.nodes().stream().map(n -> bound(n, given, scope, formals)).toList(),
                graph.initializers(),
                graph.inputs(),
                graph.outputs(),
                graph.values()));
    }

    /** The operators that Kiln imports: the tables of all families combined. */
    static final class OnnxOperators {
        private static final Map<String, OnnxRegistration> ALL = Stream.of(
                        ControlImporters.ALL,
                        OnnxElementwiseImporters.ALL,
                        OnnxLayerImporters.ALL,
                        LearningImporters.ALL,
                        OnnxMovementImporters.ALL,
                        QuantizedImporters.ALL,
                        RecurrentImporter.ALL,
                        ReduceImporters.ALL,
                        TensorImporters.ALL)
                .flatMap(List::stream)
                .collect(Collectors.toUnmodifiableMap(OnnxRegistration::key, Function.identity()));

        private OnnxOperators() {}

        /** The importer of an operator, if there is one. */
        static Optional<OnnxRegistration> find(String domain, String name) {
            return Optional.ofNullable(ALL.get(OnnxRegistration.key(domain, name)));
        }

        /** The names of all operators, in order. */
        static List<String> names() {
            return ALL.keySet().stream().sorted().toList();
        }
    }

    /** Why operators are not imported, and what to export instead. */
    static final class UnsupportedOperators {
        /**
         * A reason and advice.
         *
         * @param reason the end of a sentence that begins with the operator
         */
        record Refusal(String reason, String next) {}

        private static final Refusal UNKNOWN = new Refusal(
                "is not supported", "Export the model without it, for example from operators that it consists of");

        private static final Refusal OF_RUNTIME = new Refusal(
                "is an operator of ONNX Runtime that is not supported",
                "Save the model without ONNX Runtime's extended optimizations and fusions, so that it consists of"
                        + " ONNX's operators");

        private static final Map<Refusal, List<String>> BY_REASON = byReason();

        private UnsupportedOperators() {}

        /** The reason for an operator. */
        static Refusal of(String domain, String name) {
            return BY_REASON.entrySet().stream()
                    .filter(entry -> entry.getValue().contains(name))
                    .map(Map.Entry::getKey)
                    .findFirst()
                    .orElse(domain.equals(OnnxRegistration.MICROSOFT) ? OF_RUNTIME : UNKNOWN);
        }

        /** The operators of ONNX that are refused, by reason, for the documentation. */
        static Map<Refusal, List<String>> byReasons() {
            return BY_REASON;
        }

        private static Map<Refusal, List<String>> byReason() {
            Map<Refusal, List<String>> all = new LinkedHashMap<>();
            put(all, "handles strings", "Convert strings to numbers before the model", """
                CastMap CategoryMapper DictVectorizer RegexFullMatch StringConcat StringNormalizer StringSplit
                """);
            put(
                    all,
                    "handles sequences, whose lengths are known only when the model runs",
                    "Export the model with tensors only: Split in place of SplitToSequence, Concat in place of"
                            + " ConcatFromSequence",
                    """
                    ConcatFromSequence Optional OptionalHasElement SequenceAt SequenceConstruct
                    SequenceEmpty SequenceErase SequenceInsert SequenceLength SequenceMap SplitToSequence
                    """);
            put(all, "computes random numbers", "Make the random numbers an input, or export for inference", """
                Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike
                """);
            put(all, "trains the model", "Export the model for inference", "Gradient GraphCall");
            put(
                    all,
                    "reads files of images",
                    "Decode the image before the model, and make its pixels an input",
                    "ImageDecoder");
            put(
                    all,
                    "is a recurrence of transformers that Kiln does not compute",
                    "Export its function body: MatMul, Mul and Add in a Scan with the state as an input and an output",
                    "CausalConvWithState LinearAttention");
            put(
                    all,
                    "is of a version of ONNX that is not released",
                    "Export it as Swish and Mul, which it consists of",
                    "SwiGLU");
            put(
                    all,
                    "selects elements at computed positions between others",
                    "Use GridSample or RoiAlign in its place, or Conv without offsets",
                    "DeformConv MaxRoiPool");
            put(
                    all,
                    "adds overlapping blocks",
                    "Use ConvTranspose with constant weights of 0 and 1 in its place",
                    "Col2Im");
            return Collections.unmodifiableMap(all);
        }

        private static void put(Map<Refusal, List<String>> all, String reason, String next, String names) {
            all.put(new Refusal(reason, next), List.of(names.strip().split("\\s+", -1)));
        }
    }
}
