// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.Variable;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.call.CallKernels;
import io.kiln.reference.element.ElementwiseKernels;
import io.kiln.reference.kernel.OperatorKernel;
import io.kiln.reference.kernel.OperatorKernel.FunctionCalls;
import io.kiln.reference.kernel.OperatorKernel.Outcome;
import io.kiln.reference.kernel.Tensor;
import io.kiln.reference.layer.DetectionKernels;
import io.kiln.reference.layer.LayerKernels;
import io.kiln.reference.layer.StatefulKernels;
import io.kiln.reference.movement.MovementKernels;
import io.kiln.reference.reduce.ReductionKernels;
import io.kiln.reference.signal.SignalKernels;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Runs functions of the graph IR. Integer results are bit-exact; float results are in IEEE single precision. */
public final class Interpreter {
    private Interpreter() {}

    /** The operators that it computes; those of the user's own are computed by {@link OpaqueOperators}. */
    public static Set<Class<? extends Op>> operators() {
        return Kernels.operators();
    }

    /** The state of a function between runs. */
    public static final class State {
        private final Map<Integer, Tensor> variables = new HashMap<>();
        private final LoopBudget loops;
        private final Optional<OpaqueOperators> opaque;
        private final Optional<ConstantFolder> folder;

        private State(LoopBudget loops, Optional<OpaqueOperators> opaque, Optional<ConstantFolder> folder) {
            this.loops = loops;
            this.folder = folder;
            this.opaque = opaque;
        }

        /** The state before the first run. */
        public static State initial(Function function) {
            return initial(function, LoopBudget.USUAL, Optional.empty(), Optional.empty());
        }

        /**
         * The initial state of a function that is computed while a model is compiled.
         *
         * @param iterations largest total number of loop iterations in one run
         * @param folder counts every operator
         */
        public static State initial(Function function, int iterations, ConstantFolder folder) {
            return initial(function, iterations, Optional.empty(), Optional.of(folder));
        }

        private static State initial(
                Function function, int iterations, Optional<OpaqueOperators> opaque, Optional<ConstantFolder> folder) {
            State state = new State(new LoopBudget(iterations), opaque, folder);
            for (Variable variable : function.variables()) {
                state.variables.put(variable.id(), Tensor.read(variable.type(), variable.initial()));
            }
            return state;
        }

        /** The value of a variable by its id. */
        public Bytes value(int id) {
            return variables.get(id).toBytes();
        }
    }

    /** The function's results in its first run; see {@link #run(Function, List, State)}. */
    public static List<Bytes> run(Function function, List<Bytes> inputs) {
        return run(function, inputs, State.initial(function));
    }

    /**
     * The function's results.
     *
     * @param inputs one per parameter, row-major, little-endian
     * @param state the state left by earlier runs; updated by this run
     * @return one per result, in the same form
     * @throws KilnException if the inputs do not fit the parameters, or loops run too often
     */
    public static List<Bytes> run(Function function, List<Bytes> inputs, State state) {
        state.loops.refill();
        return execute(function, parameters(function, inputs), state).stream()
                .map(Tensor::toBytes)
                .toList();
    }

    /** The results, from the parameters by their ids. */
    private static List<Tensor> execute(Function function, Map<Integer, Tensor> values, State state) {
        Map<Integer, Integer> uses = function.useCounts();
        for (Binding binding : function.bindings()) {
            values.put(binding.id(), evaluate(function, binding, values, state));
            for (int id : binding.reads()) {
                if (uses.merge(id, -1, Integer::sum) == 0) {
                    values.remove(id);
                }
            }
        }
        List<Tensor> results = new ArrayList<>();
        for (Result result : function.results()) {
            results.add(value(result.id(), values, state));
        }
        return results;
    }

    /** Computes operators that only the user's C knows. */
    public interface OpaqueOperators {
        /**
         * Computes an operator.
         *
         * @param binding the operator, of the function or of one that it calls
         * @param args values of its arguments
         * @return its result, then the new values of the variables that it writes
         */
        List<Bytes> run(Binding binding, List<Bytes> args);
    }

    /** The value of every binding by its id, in execution order; inputs as for {@link #run}. */
    public static Map<Integer, Bytes> runAll(Function function, List<Bytes> inputs) {
        return runAll(function, inputs, Optional.empty());
    }

    /**
     * As {@link #runAll(Function, List)}, of a function with operators that only the user's C knows.
     *
     * @param opaque computes these operators
     */
    public static Map<Integer, Bytes> runAll(Function function, List<Bytes> inputs, OpaqueOperators opaque) {
        return runAll(function, inputs, Optional.of(opaque));
    }

    private static Map<Integer, Bytes> runAll(Function function, List<Bytes> inputs, Optional<OpaqueOperators> opaque) {
        Map<Integer, Bytes> all = new LinkedHashMap<>();
        State state = State.initial(function, LoopBudget.USUAL, opaque, Optional.empty());
        observe(function, inputs, state, (id, value) -> all.put(id, value.toBytes()));
        function.params().forEach(parameter -> all.remove(parameter.id()));
        return all;
    }

    /** Told the values of a run. */
    public interface Observer {
        /** Gets a parameter's or a binding's value; it is read-only. */
        void computed(int id, Tensor value);
    }

    /**
     * Reports the values of all parameters and bindings to an observer, in execution order; inputs as for {@link #run}.
     *
     * @param state the state left by earlier runs, which this one updates
     */
    public static void observe(Function function, List<Bytes> inputs, State state, Observer observer) {
        state.loops.refill();
        Map<Integer, Tensor> values = parameters(function, inputs);
        values.forEach(observer::computed);
        for (Binding binding : function.bindings()) {
            Tensor value = evaluate(function, binding, values, state);
            values.put(binding.id(), value);
            observer.computed(binding.id(), value);
        }
    }

    /** The result of an operator on constants. */
    static Constant fold(Op op, List<Constant> args, TensorType type) {
        List<Tensor> tensors =
                args.stream().map(c -> Tensor.read(c.type(), c.data())).toList();
        return new Constant(
                "",
                type,
                Kernels.run(
                                op,
                                tensors,
                                type,
                                new Callees(
                                        List.of(), new State(new LoopBudget(0), Optional.empty(), Optional.empty())))
                        .result()
                        .toBytes());
    }

    private static Map<Integer, Tensor> parameters(Function function, List<Bytes> inputs) {
        Problems problems = new Problems(Failure.MODEL);
        if (inputs.size() != function.params().size()) {
            problems.add(
                    inputs.size() + " inputs",
                    function.name(),
                    function.params().size() + " inputs",
                    "Give one vector per model input");
        }
        problems.throwIfAny();
        Map<Integer, Tensor> values = new HashMap<>();
        for (int i = 0; i < inputs.size(); i++) {
            Parameter parameter = function.params().get(i);
            if (inputs.get(i).size() == parameter.type().bytes()) {
                values.put(parameter.id(), Tensor.read(parameter.type(), inputs.get(i)));
            } else {
                problems.add(
                        "the input has " + inputs.get(i).size() + " bytes",
                        function.name() + ": input " + i + " `" + parameter.name() + "`",
                        parameter.type().bytes() + " bytes for "
                                + parameter.type().text(),
                        "");
            }
        }
        problems.throwIfAny();
        return values;
    }

    private static Tensor evaluate(Function function, Binding binding, Map<Integer, Tensor> values, State state) {
        List<Tensor> args = new ArrayList<>();
        for (Arg arg : binding.args()) {
            args.add(
                    arg instanceof Constant constant
                            ? Tensor.read(constant.type(), constant.data())
                            : value(((Arg.Ref) arg).id(), values, state));
        }
        state.folder.ifPresent(folder -> folder.spend(
                binding.op(),
                args.stream().map(Tensor::type).toList(),
                binding.type(),
                binding.origin().text()));
        Outcome outcome = state.opaque.isPresent() && binding.op().has(Trait.OPAQUE)
                ? opaque(state.opaque.get(), binding, args)
                : Kernels.run(binding.op(), args, binding.type(), new Callees(function.functions(), state));
        for (int i = 0; i < outcome.written().size(); i++) {
            state.variables.put(
                    binding.ref(binding.op().writes().get(i)), outcome.written().get(i));
        }
        return outcome.result();
    }

    private static Outcome opaque(OpaqueOperators operators, Binding binding, List<Tensor> args) {
        List<Bytes> answer =
                operators.run(binding, args.stream().map(Tensor::toBytes).toList());
        List<Tensor> written = new ArrayList<>();
        for (int i = 1; i < answer.size(); i++) {
            TensorType type = args.get(binding.op().writes().get(i - 1)).type();
            written.add(Tensor.read(type, answer.get(i)));
        }
        return new Outcome(Tensor.read(binding.type(), answer.get(0)), written);
    }

    /**
     * Calls the functions of a function.
     *
     * @param functions by index
     * @param caller the caller's state, whose limits are theirs
     */
    private record Callees(List<Function> functions, State caller) implements FunctionCalls {
        @Override
        public List<Tensor> call(int index, List<Tensor> inputs, List<Tensor> variables) {
            Function function = functions.get(index);
            Map<Integer, Tensor> values = new HashMap<>();
            for (int i = 0; i < inputs.size(); i++) {
                values.put(function.params().get(i).id(), inputs.get(i));
            }
            State state = new State(caller.loops, caller.opaque, caller.folder);
            for (int i = 0; i < variables.size(); i++) {
                state.variables.put(function.variables().get(i).id(), variables.get(i));
            }
            List<Tensor> results = execute(function, values, state);
            for (int i = 0; i < variables.size(); i++) {
                variables.set(i, state.variables.get(function.variables().get(i).id()));
            }
            return results;
        }

        @Override
        public void spendIteration(int body) {
            caller.loops.spend(functions.get(body).name());
        }
    }

    private static Tensor value(int id, Map<Integer, Tensor> values, State state) {
        return state.variables.containsKey(id) ? state.variables.get(id) : values.get(id);
    }

    /** The total number of loop iterations allowed in one run of a model, so that an endless loop becomes an error. */
    private static final class LoopBudget {
        /** Far more than a microcontroller computes in a run. */
        static final int USUAL = 1_000_000;

        private final int most;
        private int left;

        LoopBudget(int most) {
            this.most = most;
            this.left = most;
        }

        /** Called before a run. */
        void refill() {
            left = most;
        }

        /**
         * Called before a loop body runs.
         *
         * @param where name of the body
         * @throws KilnException if the budget is used up
         */
        void spend(String where) {
            if (left-- == 0) {
                throw Failure.MODEL.exception(
                        "the loops of the model run more than " + most + " times",
                        where,
                        "loops that end sooner",
                        "Check the condition of the WHILE that calls it");
            }
        }
    }

    /** Finds the kernel of an operator; each family has its own table. */
    static final class Kernels {
        private static final Map<Class<? extends Op>, OperatorKernel<Op>> BY_OPERATOR = Stream.of(
                        LayerKernels.ALL,
                        MovementKernels.ALL,
                        ElementwiseKernels.ALL,
                        ReductionKernels.ALL,
                        StatefulKernels.ALL,
                        CallKernels.ALL,
                        DetectionKernels.ALL,
                        SignalKernels.ALL)
                .flatMap(family -> family.entrySet().stream())
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));

        private Kernels() {}

        /** The operators that have a kernel. */
        static Set<Class<? extends Op>> operators() {
            return BY_OPERATOR.keySet();
        }

        static Outcome run(Op op, List<Tensor> args, TensorType type, FunctionCalls functions) {
            OperatorKernel<Op> kernel = BY_OPERATOR.get(op.getClass());
            if (kernel == null) {
                throw new IllegalStateException("the interpreter has no kernel for " + op.name());
            }
            return kernel.run(op, args, type, functions);
        }
    }
}
