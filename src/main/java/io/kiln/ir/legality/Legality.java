// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.legality;

import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.CallRules;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Variable;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Operand.Role;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.type.ConstantElements;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Checks that Kiln can compile a function: element types, arguments that must be constant, readers of sums that are not
 * rescaled yet, and ranges of numbers. It is the only such check, after every frontend and after every pass. The
 * function satisfies the rules of {@link io.kiln.ir.Verifier}.
 */
public final class Legality {
    private final Map<Integer, TensorType> types;
    private final Map<Integer, Binding> bindings;
    private final Map<Integer, Integer> uses;
    private final Set<Integer> variables;
    private final Set<Integer> constants = new HashSet<>();
    private final List<Violation> violations = new ArrayList<>();

    private Legality(Function function) {
        this.types = function.types();
        this.bindings = function.bindingsById();
        this.uses = function.useCounts();
        this.variables = function.variables().stream().map(Variable::id).collect(Collectors.toSet());
    }

    /** All violations in a function, without the functions that it calls. */
    public static List<Violation> violations(Function function) {
        Legality legality = new Legality(function);
        function.bindings().forEach(binding -> legality.check(binding, function));
        legality.checkResults(function);
        return List.copyOf(legality.violations);
    }

    /**
     * Checks a function and the functions that it calls.
     *
     * @throws io.kiln.base.KilnException with every violation, at the operator's place in the model
     */
    public static void verify(Function function) {
        Problems problems = new Problems(Failure.OPERATOR);
        collect(function, problems);
        problems.throwIfAny();
    }

    private static void collect(Function function, Problems problems) {
        violations(function)
                .forEach(v -> problems.add(Failure.OPERATOR.problem(
                        v.what(), v.binding().origin().text(), v.expected(), "Change the model")));
        function.functions().forEach(called -> collect(called, problems));
    }

    /** A result may also be a variable that an operator writes, or an input. */
    private void checkResults(Function function) {
        function.results().stream()
                .filter(result -> bindings.containsKey(result.id()))
                .forEach(result -> {
                    Binding binding = bindings.get(result.id());
                    require(
                            binding,
                            !constants.contains(result.id()),
                            "a result does not depend on an input",
                            "a computed result");
                    require(
                            binding,
                            !isAccumulator(binding) || isWord(binding),
                            "a result is an unfinished accumulator",
                            "a rescaled result");
                });
    }

    private void check(Binding binding, Function function) {
        boolean fixed =
                binding.args().stream().allMatch(a -> a instanceof Constant || constants.contains(((Arg.Ref) a).id()));
        if (fixed && !binding.op().has(Trait.COPY)) {
            constants.add(binding.id());
        }
        checkAccumulators(binding);
        checkWrites(binding);
        CallRules.violations(binding, function, types)
                .forEach(violation -> require(binding, false, violation, "functions and arguments that fit"));
        if (binding.args().isEmpty()) {
            return;
        }
        checkData(binding);
        checkConstants(binding);
        binding.op().check(arguments(binding));
    }

    private Arguments arguments(Binding binding) {
        List<Optional<? extends ConstantElements>> elements = new ArrayList<>();
        binding.args()
                .forEach(arg -> elements.add(
                        arg instanceof Constant constant ? Optional.of(constant) : Optional.<Constant>empty()));
        return new Arguments(
                binding.op(),
                binding.args().stream().map(this::type).toList(),
                elements,
                (holds, what, expected) -> require(binding, holds, what, expected));
    }

    private TensorType type(Arg arg) {
        return arg.type(types);
    }

    private DType data(Binding binding) {
        return type(binding.args().get(0)).dtype();
    }

    /** The binding that computes an argument; empty for constants, inputs and variables. */
    private Optional<Binding> producer(Arg arg) {
        return arg instanceof Arg.Ref ref ? Optional.ofNullable(bindings.get(ref.id())) : Optional.empty();
    }

    private void checkAccumulators(Binding binding) {
        boolean behindLayer = binding.op() instanceof BiasAdd || binding.op().has(Trait.RESCALES);
        for (Arg arg : binding.args()) {
            producer(arg)
                    .filter(this::isAccumulator)
                    .ifPresent(source -> require(
                            binding,
                            isWord(source) || (behindLayer && uses.get(source.id()) == 1),
                            binding.op().name() + " reads an accumulator of int64",
                            "nn.bias_add, qnn.requantize or tfl.requantize alone after qnn.conv2d and qnn.dense"));
        }
    }

    private void checkWrites(Binding binding) {
        for (int position : binding.op().writes()) {
            boolean isVariable = binding.args().get(position) instanceof Arg.Ref ref && variables.contains(ref.id());
            require(
                    binding,
                    isVariable,
                    "argument " + (position + 1) + " of " + binding.op().name() + " is not a variable",
                    "the result of a ref");
        }
    }

    /** Sums of a quantized layer, with or without its bias, and other sums wider than their data. */
    private boolean isAccumulator(Binding binding) {
        boolean widens = binding.op().has(Trait.ACCUMULATES)
                && data(binding) != binding.type().dtype();
        return (widens || binding.op() instanceof BiasAdd)
                && !binding.type().dtype().isFloat();
    }

    /** Sums of int32 are stored unless they are rescaled at once. */
    private static boolean isWord(Binding binding) {
        return binding.type().dtype() == DType.INT32;
    }

    private void checkData(Binding binding) {
        Op op = binding.op();
        DType data = data(binding);
        boolean isBias = op instanceof BiasAdd;
        boolean mustFollowLayer = isBias || (op.has(Trait.RESCALES) && data == DType.INT64);
        require(
                binding,
                op.dataTypes().contains(data) && (!mustFollowLayer || followsLayer(binding)),
                op.name() + " of this data, " + data.text() + ", is not supported",
                isBias
                        ? "the value of a convolution or dense layer that nothing else reads"
                        : "int8, or float32 where there is an operator for it");
    }

    /** Whether the data comes directly from a layer or another sum and, unless it is int32, has no other reader. */
    private boolean followsLayer(Binding binding) {
        DType data = data(binding);
        return producer(binding.args().get(0))
                .filter(source -> isAccumulator(source) || takesBias(source.op()))
                .filter(source -> takesBias(source.op()) || !(binding.op() instanceof BiasAdd))
                .filter(source -> data == DType.INT32 || uses.get(source.id()) == 1)
                .isPresent();
    }

    private static boolean takesBias(Op op) {
        return op instanceof Layer || op.has(Trait.TAKES_BIAS);
    }

    /** Quantized weights of float32 data must be constant, too. */
    private void checkConstants(Binding binding) {
        boolean isHybrid = binding.op() instanceof Layer layer
                && layer.isQuantized()
                && data(binding).isFloat();
        for (int i = 1; i < binding.args().size(); i++) {
            Role role = binding.op().role(i);
            require(
                    binding,
                    binding.args().get(i) instanceof Constant || role == Role.STATE || (role == Role.DATA && !isHybrid),
                    "argument " + (i + 1) + " of " + binding.op().name() + " is not constant",
                    "a number, meta[relay.Constant][n] or a parameter of the .params file");
        }
    }

    private void require(Binding binding, boolean holds, String what, String expected) {
        if (!holds) {
            violations.add(new Violation(binding, what, expected));
        }
    }

    /**
     * A call that Kiln does not compile.
     *
     * @param binding the call, or the one that computes a result
     * @param what what is wrong, as a message for users
     * @param expected what was expected
     */
    public record Violation(Binding binding, String what, String expected) {}
}
