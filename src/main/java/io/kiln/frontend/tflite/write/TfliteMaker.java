// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.base.DType;
import io.kiln.frontend.CustomOperator;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.arith.FloatPrecision;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.CustomCall;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.graph.Node;
import io.kiln.quantize.plan.Plan;
import io.kiln.quantize.plan.Plan.PlannedNode;
import io.kiln.quantize.plan.Plan.QuantizedNetwork;
import io.kiln.quantize.plan.Precision;
import io.kiln.quantize.plan.QuantizedConstants.QuantizedVotes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Makes integer functions by writing the plan as a TensorFlow Lite model and reading that. A network that Kiln
 * quantizes thus has the same arithmetic as one that TensorFlow Lite quantized, and compiles to the same code.
 *
 * @param fileName name of the model file in the origins of operators
 */
public record TfliteMaker(String fileName) implements QuantizedNetwork.Maker {
    @Override
    public QuantizedNetwork make(Plan plan) {
        PlanWriter.Written written = new PlanWriter(plan).write();
        List<CustomOperator> operators = written.custom().keySet().stream()
                .map(name -> new CustomOperator(name, "node_" + name.substring(PlanWriter.CUSTOM.length()), "", ""))
                .toList();
        Function read = TfliteFrontend.read(
                written.file(),
                fileName,
                plan.function().name(),
                InputShapes.NONE,
                CustomOperators.of(operators),
                TfliteRounding.MICRO);
        Map<String, Integer> places = places(read);
        Function dense = inLibraryArithmetic(DenseFromConv.in(read, written.dense()));
        Function whole = Splice.into(dense, plan.function(), written.custom());
        Map<Integer, Integer> idsInOrder = ids(whole);
        Map<Integer, Integer> values = new HashMap<>();
        written.names()
                .forEach((value, tensor) ->
                        Optional.ofNullable(places.get(tensor)).ifPresent(id -> values.put(value, idsInOrder.get(id))));
        List<String> missing = written.custom().values().stream()
                .map(node -> node.node().op().name())
                .sorted()
                .distinct()
                .toList();
        return new QuantizedNetwork(
                plan,
                whole.withIdsInOrder(),
                values,
                missing.isEmpty() ? Optional.of(written.file()) : Optional.empty(),
                missing);
    }

    /** The id of the value of each tensor. */
    private static Map<String, Integer> places(Function read) {
        Map<String, Integer> places = new HashMap<>();
        for (Binding binding : read.bindings()) {
            places.put(binding.origin().tensor(), binding.id());
        }
        return places;
    }

    private static Map<Integer, Integer> ids(Function function) {
        Function inOrder = function.withIdsInOrder();
        Map<Integer, Integer> ids = new HashMap<>();
        for (int i = 0; i < function.bindings().size(); i++) {
            ids.put(function.bindings().get(i).id(), inOrder.bindings().get(i).id());
        }
        return ids;
    }

    /**
     * Gives softmax of int16 tables in double precision, and LSTM of int8 {@link Lstm.Arithmetic#LIBRARY}: the arithmetic of TensorFlow Lite's
     * library, so that an image answers what the library answers for the written model.
     */
    private static Function inLibraryArithmetic(Function function) {
        Map<Integer, TensorType> types = function.types();
        List<Binding> bindings = function.bindings().stream()
                .map(binding -> converted(binding, types))
                .toList();
        return function.withBindings(bindings);
    }

    private static Binding converted(Binding binding, Map<Integer, TensorType> types) {
        if (binding.op() instanceof TflSoftmax softmax
                && types.get(binding.ref(0)).dtype() == DType.INT16) {
            return binding.with(new TflSoftmax(softmax.beta(), softmax.outDtype(), FloatPrecision.DOUBLE));
        }
        if (binding.op() instanceof Lstm lstm && types.get(binding.ref(0)).dtype() == DType.INT8) {
            return binding.with(lstm.in(Lstm.Arithmetic.LIBRARY));
        }
        return binding;
    }

    /** Replaces the custom operators of a function that was read from a written model by the original operators. */
    private static final class Splice {
        private final Map<String, PlannedNode> custom;
        private final Map<Integer, Arg.Ref> variables = new HashMap<>();
        private final GraphBuilder graph;

        private Splice(Function read, Map<String, PlannedNode> custom) {
            this.custom = custom;
            this.graph = new GraphBuilder(read);
        }

        /**
         * The whole function.
         *
         * @param read the function with calls of the custom operators
         * @param original the float function, which provides the called functions, and the variables that custom operators use
         * @param custom the nodes by the operators' names
         */
        static Function into(Function read, Function original, Map<String, PlannedNode> custom) {
            Splice splice = new Splice(read, custom);
            splice.addVariables(original);
            read.bindings().forEach(splice::add);
            return read.withBindings(splice.graph.bindings())
                    .withVariables(splice.graph.variables())
                    .withFunctions(original.functions());
        }

        private void addVariables(Function original) {
            Set<Arg> used = custom.values().stream()
                    .flatMap(node -> node.node().args().stream())
                    .filter(Arg.Ref.class::isInstance)
                    .collect(Collectors.toSet());
            original.variables().stream()
                    .filter(v -> used.contains(new Arg.Ref(v.id())))
                    .forEach(v -> variables.put(v.id(), graph.variable(v.name(), v.type(), v.initial())));
        }

        private void add(Binding binding) {
            if (binding.op() instanceof CustomCall call && custom.containsKey(call.code())) {
                add(binding, custom.get(call.code()));
            } else {
                graph.keep(binding);
            }
        }

        /** The node's operator, the scales of its votes, its bias and its clamp; the last one takes the call's place. */
        private void add(Binding call, PlannedNode planned) {
            Node node = planned.node();
            List<Arg> args = new ArrayList<>();
            int read = 0;
            for (Arg arg : node.args()) {
                boolean isGiven = arg instanceof Arg.Ref ref && !variables.containsKey(ref.id());
                args.add(isGiven ? call.args().get(read++) : arg.replaced(variables));
            }
            List<Op> ops = new ArrayList<>(List.of(node.op()));
            List<List<Arg>> constants = new ArrayList<>(List.of(List.of()));
            if (planned.precision() != Precision.FLOAT) {
                QuantizedVotes quantized = QuantizedVotes.of(planned);
                args.set(QuantizedVotes.WEIGHTS, quantized.votes());
                ops.addAll(List.of(new Cast(DType.FLOAT32), new Binary(Binary.Kind.MULTIPLY)));
                constants.addAll(List.of(List.of(), List.of(quantized.scales())));
            }
            node.bias().ifPresent(bias -> {
                ops.add(new BiasAdd(node.type().shape().rank() - 1));
                constants.add(List.of(bias));
            });
            node.clip().ifPresent(clip -> {
                ops.add(clip);
                constants.add(List.of());
            });
            int last = ops.size() - 1;
            for (int i = 0; i < last; i++) {
                Arg value = graph.call(ops.get(i), args, node.origin());
                args = new ArrayList<>(List.of(value));
                args.addAll(constants.get(i + 1));
            }
            graph.define(call.id(), ops.get(last), args, node.origin());
        }
    }

    /**
     * Turns 1x1 convolutions that were written in place of fully connected layers back into these: (1, rows, 1, inputs) becomes (rows,
     * inputs). Bias, rescaling and clamp follow; they compute the same.
     */
    private static final class DenseFromConv {
        private final Function function;
        private final Set<String> names;
        private final GraphBuilder graph;

        /** The value (rows, units) that holds the elements of a value (1, rows, 1, units). */
        private final Map<Integer, Integer> flat = new HashMap<>();

        /** The values that only the layer's own bias, rescaling or clamp reads. */
        private final Set<Integer> inner = new HashSet<>();

        private DenseFromConv(Function function, Set<String> names) {
            this.function = function;
            this.names = names;
            this.graph = new GraphBuilder(function);
        }

        /**
         * The function with fully connected layers.
         *
         * @param names the names of the convolutions' tensors
         */
        static Function in(Function function, Set<String> names) {
            return names.isEmpty() ? function : new DenseFromConv(function, names).rewritten();
        }

        private Function rewritten() {
            function.bindings().stream()
                    .filter(binding ->
                            names.contains(binding.origin().tensor()) && !(binding.op() instanceof QnnConv2d))
                    .forEach(binding -> inner.add(binding.ref(0)));
            for (Binding binding : function.bindings()) {
                if (!names.contains(binding.origin().tensor())) {
                    graph.keep(binding);
                } else if (binding.op() instanceof QnnConv2d conv) {
                    layer(binding, conv);
                } else {
                    List<Arg> args = new ArrayList<>(binding.args());
                    args.set(0, new Arg.Ref(flat.get(binding.ref(0))));
                    add(binding, onRows(binding.op()), args);
                }
            }
            return function.withBindings(graph.bindings());
        }

        private void layer(Binding binding, QnnConv2d conv) {
            Constant weights = binding.constant(1);
            Arg image = binding.args().get(0);
            Shape shape = graph.type(image).shape();
            Shape rows = Shape.of(shape.dim(1), shape.dim(3));
            Arg.Ref data = graph.call(new Reshape(rows), List.of(image), binding.origin());
            TensorType matrix = new TensorType(
                    Shape.of(conv.channels(), shape.dim(3)), weights.type().dtype());
            List<Arg> args = new ArrayList<>(binding.args());
            args.set(0, data);
            args.set(1, new Constant(weights.name(), matrix, weights.data()));
            add(binding, new QnnDense(conv.channels(), conv.outDtype()), args);
        }

        private static Op onRows(Op op) {
            if (op instanceof TflRequantize by) {
                return new TflRequantize(1, by.inputZeroPoint(), by.outputZeroPoint(), by.outDtype(), by.rounding());
            }
            if (op instanceof BiasAdd) {
                return new BiasAdd(1);
            }
            if (op instanceof Clip) {
                return op;
            }
            throw new IllegalStateException("a fully connected layer was read with " + op.name());
        }

        /** The operator on rows; the layer's result has a reshape under the old number. */
        private void add(Binding binding, Op op, List<Arg> args) {
            Arg.Ref value = graph.call(op, args, binding.origin());
            flat.put(binding.id(), value.id());
            if (!inner.contains(binding.id())) {
                graph.define(binding.id(), new Reshape(binding.type().shape()), List.of(value), binding.origin());
            }
        }
    }
}
