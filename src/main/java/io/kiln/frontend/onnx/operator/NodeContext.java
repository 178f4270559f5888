// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.operator;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.model.OnnxModel.OnnxGraph;
import io.kiln.frontend.onnx.model.OnnxNode;
import io.kiln.frontend.onnx.model.OnnxNode.OnnxAttribute;
import io.kiln.frontend.onnx.model.OnnxTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Origin;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * A node while it is imported: its inputs, its attributes, and the graph that its importer extends. Inputs and outputs
 * have the model's own layout.
 */
public final class NodeContext implements Formulas {
    /** What a node is imported into. */
    public record Surroundings(
            GraphBuilder graph, Scope scope, Bodies bodies, String file, int number, Emitter emitter) {
        /** Operators are appended as they are emitted. */
        public Surroundings(GraphBuilder graph, Scope scope, Bodies bodies, String file, int number) {
            this(graph, scope, bodies, file, number, graph::emit);
        }
    }

    private static final int MOST_NAMES = 4;
    private static final int MOST_NUMBERS = 1 << 18;

    private final OnnxNode node;
    private final int version;
    private final Surroundings around;
    private final List<Optional<OnnxValue>> inputs = new ArrayList<>();

    /**
     * A node whose inputs are defined.
     *
     * @param version version of the node's domain
     */
    public NodeContext(OnnxNode node, int version, Surroundings around) {
        this.node = node;
        this.version = version;
        this.around = around;
        for (String name : node.inputs()) {
            inputs.add(name.isEmpty() ? Optional.empty() : around.scope().value(name));
        }
    }

    public OnnxNode node() {
        return node;
    }

    /** Whether it is one of these operators of ONNX's own domain, or of those that are imported as such. */
    public boolean is(String... operators) {
        return List.of(operators).contains(node.operator());
    }

    /** Version of the operator set that the model uses for this node. */
    public int version() {
        return version;
    }

    /** Number of inputs in the file, left out ones included. */
    public int inputs() {
        return inputs.size();
    }

    /** Number of outputs in the file, unused ones included. */
    public int outputs() {
        return node.outputs().size();
    }

    /** Whether an output is used. */
    public boolean hasOutput(int index) {
        return index < outputs() && !node.outputs().get(index).isEmpty();
    }

    public boolean has(int index) {
        return index < inputs.size() && inputs.get(index).isPresent();
    }

    /** An input that may be left out. */
    public Optional<OnnxValue> optional(int index) {
        return index < inputs.size() ? inputs.get(index) : Optional.empty();
    }

    /** An input; a missing one is an error. */
    public OnnxValue input(int index) {
        return optional(index)
                .orElseThrow(
                        () -> failure("its input " + index + " is missing", "at least " + (index + 1) + " inputs"));
    }

    /** How integers compute an input, if in this way. */
    public <T> Optional<T> form(int index, Class<T> kind) {
        return optional(index).flatMap(OnnxValue::form).filter(kind::isInstance).map(kind::cast);
    }

    public Arg arg(int index) {
        return input(index).arg();
    }

    public Shape shape(int index) {
        return type(arg(index)).shape();
    }

    /** Element type of an input in the model. */
    public ElementType element(int index) {
        return input(index).type();
    }

    /** An axis counted from 0. */
    public int axis(long stated, int rank) {
        if (stated < -rank || stated >= rank) {
            throw failure("its axis is " + stated, "-" + rank + " to " + (rank - 1) + " for data of rank " + rank);
        }
        return (int) (stated < 0 ? stated + rank : stated);
    }

    /** Axes counted from 0, ascending, each once. */
    public List<Integer> axes(List<Long> stated, int rank) {
        List<Integer> axes = stated.stream()
                .map(axis -> axis(axis, rank))
                .sorted()
                .distinct()
                .toList();
        if (axes.size() != stated.size()) {
            throw failure("its axes are " + stated, "every axis once");
        }
        return axes;
    }

    /**
     * An input that must be known at build time.
     *
     * @param what meaning of the input, such as {@code shape}
     */
    public Constant constant(int index, String what) {
        return known(arg(index), "its input `" + node.inputs().get(index) + "` (" + what + ")");
    }

    /**
     * A value that must be known at build time.
     *
     * @param what the value, for messages
     */
    public Constant known(Arg value, String what) {
        if (value instanceof Constant constant) {
            return constant;
        }
        String inputs = inputsOf(value);
        throw failure(
                what + " is known only when the model runs",
                "a constant: shapes and control flow are decided at build time",
                inputs.isEmpty()
                        ? "Export the model with a constant"
                        : "Set kiln.inputValues for " + inputs
                                + " if it is the same in every run, or export the model with a constant");
    }

    /** The inputs of the model from which a value is computed. */
    private String inputsOf(Arg value) {
        Map<Arg, String> names = new HashMap<>();
        around.graph().params().forEach(p -> names.put(new Arg.Ref(p.id()), "`" + p.name() + "`"));
        Set<Arg> seen = new LinkedHashSet<>(List.of(value));
        Deque<Arg> open = new ArrayDeque<>(seen);
        while (!open.isEmpty()) {
            around.graph()
                    .producer(open.remove())
                    .ifPresent(binding -> binding.args().stream()
                            .filter(arg -> arg instanceof Arg.Ref && seen.add(arg))
                            .forEach(open::add));
        }
        List<String> found =
                seen.stream().filter(names::containsKey).map(names::get).toList();
        return String.join(", ", found.subList(0, Math.min(MOST_NAMES, found.size())));
    }

    /** The integers of an input that must be known at build time: a short list. */
    public List<Long> integers(int index, String what) {
        Constant values = list(index, what, false);
        return IntStream.range(0, values.elements()).mapToObj(values::integer).toList();
    }

    /** The floats of an input that must be known at build time: a short list. */
    public List<Float> reals(int index, String what) {
        Constant values = list(index, what, true);
        return IntStream.range(0, values.elements()).mapToObj(values::real).toList();
    }

    private Constant list(int index, String what, boolean areFloats) {
        Constant values = constant(index, what);
        String text = "its input " + index + " (" + what + ")";
        require(values.elements() <= MOST_NUMBERS, text + " has " + values.elements() + " elements", "a list");
        require(
                values.type().dtype().isFloat() == areFloats,
                text + (areFloats ? " holds integers" : " holds floats"),
                areFloats ? "floats" : "integers");
        return values;
    }

    @Override
    public TensorType type(Arg value) {
        return around.graph().type(value);
    }

    @Override
    public Arg emit(Op op, List<Arg> args) {
        try {
            return around.emitter().emit(op, args, origin());
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw failure(e.getMessage(), "");
        }
    }

    /** Refuses an input whose elements are not floats. */
    public void requireFloats(int index) {
        require(element(index).isFloat(), "its elements are " + element(index).text(), "floats");
    }

    /** Sets the first output; its element type is that of the first input, or else follows from the value's type. */
    public void finish(Arg value) {
        finish(0, value);
    }

    /** Sets an output, likewise. */
    public void finish(int output, Arg value) {
        ElementType like = has(0) ? element(0) : ElementType.UNDEFINED;
        boolean isLike = like.isHeldAs(type(value).dtype());
        finish(output, value, isLike ? like : ElementType.of(type(value).dtype()));
    }

    /** Sets an output with elements of a type of the model; nothing if the output is unused. */
    public void finish(int output, Arg value, ElementType type) {
        finish(output, new OnnxValue(value, type));
    }

    /** Sets an output to a value with all that is known of it. */
    public void finish(int output, OnnxValue value) {
        if (!value.type().isHeldAs(type(value.arg()).dtype())) {
            throw failure(
                    "it computes " + type(value.arg()).text(),
                    "elements of type " + value.type().text());
        }
        if (hasOutput(output) && !around.scope().define(node.outputs().get(output), value)) {
            throw failure("its output `" + node.outputs().get(output) + "` exists already", "every value once");
        }
    }

    /** Sets an output to a value with all that is known of it, instead of what was set before. */
    public void replace(int output, OnnxValue value) {
        around.scope().replace(node.outputs().get(output), value);
    }

    /** An output that is set. */
    public Optional<OnnxValue> output(int index) {
        return hasOutput(index) ? around.scope().value(node.outputs().get(index)) : Optional.empty();
    }

    /** The same node as an operator of ONNX's own domain, with some of its inputs; those that are left out stay so. */
    public NodeContext as(String operator, List<Integer> order) {
        List<String> names = order.stream()
                .map(i -> i < node.inputs().size() ? node.inputs().get(i) : "")
                .toList();
        return new NodeContext(node.with("", operator, names), version, around);
    }

    /** The same node without an attribute. */
    public NodeContext without(String attribute) {
        return new NodeContext(node.without(attribute), version, around);
    }

    /**
     * The same node with other inputs, whose outputs the graph does not see.
     *
     * @param replaced values by index of the input
     * @param emitter receives what the importer emits; empty for the graph
     */
    public NodeContext shadow(Map<Integer, OnnxValue> replaced, Optional<Emitter> emitter) {
        Scope scope = new Scope(Optional.of(around.scope()));
        replaced.forEach((index, value) -> scope.define(node.inputs().get(index), value));
        return new NodeContext(
                node,
                version,
                new Surroundings(
                        around.graph(),
                        scope,
                        around.bodies(),
                        around.file(),
                        around.number(),
                        emitter.orElse(around.graph()::emit)));
    }

    /** Imports a body of this node once; see {@link Bodies}. */
    public List<OnnxValue> run(String attribute, List<OnnxValue> values) {
        return around.bodies().run(body(attribute), values, around.scope());
    }

    /** Reports a problem unless the condition holds. */
    public void require(boolean holds, String what, String expected) {
        if (!holds) {
            throw failure(what, expected);
        }
    }

    @Override
    public void requireThat(boolean holds, String what, String expected) {
        require(holds, what, expected);
    }

    @Override
    public KilnException failure(String what, String expected) {
        return failure(what, expected, "");
    }

    /** An error of this node, with advice. */
    public KilnException failure(String what, String expected, String next) {
        return Failure.OPERATOR.exception(what, where(), expected, next);
    }

    GraphBuilder graph() {
        return around.graph();
    }

    Origin origin() {
        return node.origin(around.file(), around.number());
    }

    private String where() {
        return node.where(around.file());
    }

    public boolean has(String name) {
        return node.attributes().containsKey(name);
    }

    /** An attribute that is an integer, if stated. One of another kind is an error, as for all attributes. */
    public Optional<Long> whole(String name) {
        return get(name, OnnxAttribute.Whole.class, "an integer").map(OnnxAttribute.Whole::value);
    }

    /** An attribute that is an integer, or its default. */
    public long whole(String name, long otherwise) {
        return whole(name).orElse(otherwise);
    }

    /** An attribute that is 0 or 1. */
    public boolean truth(String name, boolean otherwise) {
        return whole(name, otherwise ? 1 : 0) != 0;
    }

    /** An attribute that is a number, if stated. */
    public Optional<Float> real(String name) {
        return get(name, OnnxAttribute.Real.class, "a float").map(OnnxAttribute.Real::value);
    }

    /** An attribute that is a number, or its default. */
    public float real(String name, float otherwise) {
        return real(name).orElse(otherwise);
    }

    /** An attribute that is a string, or its default. */
    public String text(String name, String otherwise) {
        return get(name, OnnxAttribute.Text.class, "a string")
                .map(OnnxAttribute.Text::value)
                .orElse(otherwise);
    }

    /** An attribute of integers, if stated. */
    public Optional<List<Long>> wholes(String name) {
        return get(name, OnnxAttribute.Wholes.class, "integers").map(OnnxAttribute.Wholes::values);
    }

    /** An attribute of numbers, if stated. */
    public Optional<List<Float>> reals(String name) {
        return get(name, OnnxAttribute.Reals.class, "floats").map(OnnxAttribute.Reals::values);
    }

    /** An attribute of strings, if stated. */
    public Optional<List<String>> texts(String name) {
        return get(name, OnnxAttribute.Texts.class, "strings").map(OnnxAttribute.Texts::values);
    }

    /** An attribute that is a constant, if stated. */
    public Optional<OnnxTensor> tensor(String name) {
        return get(name, OnnxAttribute.Tensor.class, "a tensor").map(OnnxAttribute.Tensor::value);
    }

    /** An attribute that is a body; a missing one is an error. */
    public OnnxGraph body(String name) {
        return get(name, OnnxAttribute.Body.class, "a graph")
                .map(OnnxAttribute.Body::value)
                .orElseThrow(() -> missing(name));
    }

    /** An attribute that is an integer; a missing one is an error. */
    public long requiredWhole(String name) {
        return whole(name).orElseThrow(() -> missing(name));
    }

    /** An attribute of integers; missing ones are an error. */
    public List<Long> requiredWholes(String name) {
        return wholes(name).orElseThrow(() -> missing(name));
    }

    /** The error of a missing attribute. */
    public KilnException missing(String name) {
        return failure("its attribute `" + name + "` is missing", "an attribute of that name");
    }

    private <T extends OnnxAttribute> Optional<T> get(String name, Class<T> kind, String expected) {
        OnnxAttribute value = node.attributes().get(name);
        if (value == null) {
            return Optional.empty();
        }
        if (!kind.isInstance(value)) {
            throw failure("its attribute `" + name + "` has another kind", expected);
        }
        return Optional.of(kind.cast(value));
    }

    /** The values of a graph by name; a body of a control flow operator also sees those of the graph around it. */
    public static final class Scope {
        private final Optional<Scope> outer;
        private final Map<String, OnnxValue> values = new HashMap<>();
        private final Set<String> failed = new HashSet<>();

        /** @param outer the graph around; empty for a model or a function */
        public Scope(Optional<Scope> outer) {
            this.outer = outer;
        }

        /** Sets a value. Returns whether the name was free. */
        public boolean define(String name, OnnxValue value) {
            return values.put(name, value) == null;
        }

        /** Sets a value, whether or not there is one. */
        void replace(String name, OnnxValue value) {
            values.put(name, value);
        }

        public Optional<OnnxValue> value(String name) {
            OnnxValue own = values.get(name);
            return own == null ? outer.flatMap(scope -> scope.value(name)) : Optional.of(own);
        }

        /** A value could not be computed, and the reason is already reported. */
        public void fail(String name) {
            failed.add(name);
        }

        /** Whether a value is missing for a reported reason. */
        public boolean isFailed(String name) {
            return failed.contains(name)
                    || outer.filter(scope -> scope.isFailed(name)).isPresent();
        }
    }

    /** Imports the bodies of control flow operators into the graph around them. */
    public interface Bodies {
        /**
         * Imports a body once.
         *
         * @param inputs its inputs, in order
         * @param scope the graph around it
         * @return its outputs, in order
         * @throws io.kiln.base.KilnException with all errors of its nodes
         */
        List<OnnxValue> run(OnnxGraph body, List<OnnxValue> inputs, Scope scope);
    }

    /** Appends operator calls to a graph. */
    @FunctionalInterface
    public interface Emitter {
        /** Appends a call and returns its result. */
        Arg emit(Op op, List<Arg> args, Origin origin);
    }
}
