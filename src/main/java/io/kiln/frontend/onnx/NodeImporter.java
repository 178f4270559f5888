// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.frontend.GraphProblems;
import io.kiln.frontend.onnx.model.OnnxAttribute;
import io.kiln.frontend.onnx.model.OnnxFunction;
import io.kiln.frontend.onnx.model.OnnxGraph;
import io.kiln.frontend.onnx.model.OnnxModel;
import io.kiln.frontend.onnx.model.OnnxNode;
import io.kiln.frontend.onnx.model.OnnxValueInfo;
import io.kiln.frontend.onnx.model.Opsets;
import io.kiln.frontend.onnx.operator.Bodies;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.frontend.onnx.operator.Scope;
import io.kiln.frontend.onnx.quantized.QuantizedNodes;
import io.kiln.ir.GraphBuilder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

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
                .orElseThrow(() -> new KilnException(Failure.OPERATOR.problem(
                        "a body does not compute its output `" + output.name() + "`",
                        model.file(),
                        "a value of that name",
                        "")));
    }

    private void nested(Runnable body) {
        if (depth == MAX_DEPTH) {
            isTooLarge = true;
            throw new KilnException(Failure.OPERATOR.problem(
                    "functions and bodies are nested more than " + MAX_DEPTH + " deep",
                    model.file(),
                    "no recursion",
                    "Export a flatter model"));
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
            throw new KilnException(Failure.OPERATOR.problem(
                    "the model has more than " + MAX_NODES + " " + what,
                    model.file(),
                    "a model for a microcontroller",
                    ""));
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
        return new KilnException(
                Failure.OPERATOR.problem(node.type() + " " + reason, node.where(model.file()), expected, next));
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
                throw new KilnException(Failure.OPERATOR.problem(
                        "its input `" + name + "` does not exist",
                        node.where(model.file()),
                        "the name of an input, a constant or a result of another node",
                        "Correct the name in the tool that wrote the file, or export the model again"));
            }
        }
    }

    private void checkOutputs(OnnxNode node, Scope scope) {
        for (String name : node.outputs()) {
            if (!name.isEmpty() && scope.value(name).isEmpty()) {
                throw new KilnException(Failure.OPERATOR.problem(
                        "its output `" + name + "` is not supported",
                        node.where(model.file()),
                        "a model that does not use this output",
                        "Export the model for inference"));
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
        function.nodes().forEach(n -> nodes.add(FunctionBodies.bound(n, given, inner, function.inputs())));
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
}
