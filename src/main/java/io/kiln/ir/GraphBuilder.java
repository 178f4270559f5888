// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Builds a function: gives out ids, infers the types of results, and computes operators on constants at once. Every frontend and every pass
 * that adds operators appends them here.
 */
public final class GraphBuilder {
    /** Far beyond what fits a microcontroller; unrolled loops count. */
    private static final int MAX_OPERATORS = 1 << 16;

    /** Computes operators on constants. */
    public interface Folder {
        /**
         * The result of an operator on constants.
         *
         * @param type type of the result
         * @param where the operator, for the message
         * @throws KilnException if the model has too much to compute
         */
        Constant fold(Op op, List<Constant> args, TensorType type, String where);
    }

    private final Folder folder;
    private final List<Parameter> params = new ArrayList<>();
    private final List<Variable> variables = new ArrayList<>();
    private final List<Binding> bindings = new ArrayList<>();
    private final List<Function> functions = new ArrayList<>();
    private final Map<Integer, TensorType> types = new HashMap<>();
    private final Map<Integer, Binding> producers = new HashMap<>();
    private final Map<Integer, Arg> replaced = new HashMap<>();
    private final Set<Arg> own = new HashSet<>();
    private int next;
    private int emitted;

    /** A builder of a new function. */
    public GraphBuilder(Folder folder) {
        this.folder = folder;
    }

    /**
     * A builder of the bindings of a function that is rewritten: all its values keep their ids and types, its parameters, variables and
     * called functions are there. {@link #keep} takes over its bindings.
     */
    public GraphBuilder(Function function, Folder folder) {
        this(folder);
        params.addAll(function.params());
        variables.addAll(function.variables());
        functions.addAll(function.functions());
        types.putAll(function.types());
        next = types.keySet().stream().mapToInt(id -> id + 1).max().orElse(0);
    }

    /** As above, for operators that are added as calls, whatever their arguments are. */
    public GraphBuilder(Function function) {
        this(function, (op, args, type, where) -> {
            throw new IllegalStateException("no constants are computed: " + where);
        });
    }

    /** A builder of a function that operators of this one call. */
    public GraphBuilder called() {
        return new GraphBuilder(folder);
    }

    /** Adds an input. */
    public Arg.Ref parameter(String name, TensorType type, Optional<Quantization> quantization) {
        Arg.Ref value = value(type);
        params.add(new Parameter(value.id(), name, type, quantization));
        return value;
    }

    /** Adds a variable that is 0 at first. */
    public Arg.Ref variable(String name, TensorType type) {
        return variable(name, type, Bytes.wrap(new byte[Math.toIntExact(type.bytes())]));
    }

    /** Adds a variable. */
    public Arg.Ref variable(String name, TensorType type, Bytes initial) {
        Arg.Ref value = value(type);
        variables.add(new Variable(value.id(), name, type, initial));
        return value;
    }

    /** Gives a variable another initial value. */
    public void initialize(Arg.Ref variable, Bytes initial) {
        variables.replaceAll(v -> v.id() == variable.id() ? new Variable(v.id(), v.name(), v.type(), initial) : v);
    }

    /** Adds a function that operators call, and returns its index. */
    public int function(Function function) {
        functions.add(function);
        return functions.size() - 1;
    }

    /** An id for a value that is not computed here. */
    public Arg.Ref value(TensorType type) {
        types.put(next, type);
        return new Arg.Ref(next++);
    }

    /**
     * Appends an operator call. A result that depends on constants only, or has no elements, becomes a constant at once.
     *
     * @throws IllegalArgumentException if the arguments do not fit the operator, or the result is too large
     * @throws KilnException if the model becomes too large, or has too much to compute
     */
    public Arg emit(Op op, List<? extends Arg> args, Origin origin) {
        return emit(op, args, origin, origin.text());
    }

    /**
     * As above, for a file whose places are not those of operators.
     *
     * @param where the operator's place, for messages
     */
    public Arg emit(Op op, List<? extends Arg> args, Origin origin, String where) {
        List<Arg> read = read(args);
        TensorType type = infer(op, read);
        if (type.shape().elements() == 0 && op.writes().isEmpty()) {
            return new Constant("", type, Bytes.wrap(new byte[0]));
        }
        Optional<Constant> constant = op.has(Trait.COPY) ? Optional.empty() : folded(op, read, type, where);
        return constant.<Arg>map(c -> c).orElseGet(() -> bind(value(type), op, read, origin));
    }

    /**
     * Appends an operator call that stays one, whatever its arguments are.
     *
     * @throws IllegalArgumentException if the arguments do not fit the operator, or the result is too large
     * @throws KilnException if the model becomes too large
     */
    public Arg.Ref call(Op op, List<? extends Arg> args, Origin origin) {
        List<Arg> read = read(args);
        return bind(value(infer(op, read)), op, read, origin);
    }

    /** Appends an operator call, never computed at once, that has the id of a value of the function that is rewritten. */
    public void define(int id, Op op, List<? extends Arg> args, Origin origin) {
        List<Arg> read = read(args);
        types.put(id, infer(op, read));
        bind(new Arg.Ref(id), op, read, origin);
    }

    /** Takes over a binding of the function that is rewritten; it reads what its arguments were replaced by. */
    public void keep(Binding binding) {
        add(binding.reading(replaced));
    }

    /** The result of a binding if it depends on constants only, named like the tensor that it computes in the model. */
    public Optional<Constant> folded(Binding binding) {
        return folded(
                        binding.op(),
                        read(binding.args()),
                        binding.type(),
                        binding.origin().text())
                .map(value -> new Constant(binding.origin().tensor(), value.type(), value.data()));
    }

    private Optional<Constant> folded(Op op, List<Arg> args, TensorType type, String where) {
        boolean isKnown = args.stream().allMatch(Constant.class::isInstance)
                && !op.has(Trait.OPAQUE)
                && op.writes().isEmpty();
        return isKnown
                ? Optional.of(
                        folder.fold(op, args.stream().map(Constant.class::cast).toList(), type, where))
                : Optional.empty();
    }

    /** Whatever is appended from here on reads another value in place of this one. */
    public void replace(int id, Arg value) {
        replaced.put(id, read(value));
    }

    /** What a value was replaced by, or the value. */
    public Arg read(Arg value) {
        return value.replaced(replaced);
    }

    private List<Arg> read(Collection<? extends Arg> args) {
        return args.stream().map(this::read).toList();
    }

    /**
     * A value in memory of its own, as results need it: a constant, a parameter and a value that was asked for before are copied.
     */
    public Arg.Ref own(Arg value, Origin origin) {
        return isComputed(value) && own.add(value) ? (Arg.Ref) value : copied(value, origin);
    }

    /**
     * A name for a result: inputs and outputs share the names of macros.
     *
     * @param names names that are taken; the result's is added
     */
    public static String unused(String name, Set<String> names) {
        String unused = name;
        for (int number = 2; !names.add(unused); number++) {
            unused = name + "_" + number;
        }
        return unused;
    }

    /** A copy of a value. */
    public Arg.Ref copied(Arg value, Origin origin) {
        return call(new Copy(), List.of(value), origin);
    }

    public TensorType type(Arg value) {
        return value.type(types);
    }

    /** Whether a value is neither a constant nor a parameter. */
    public boolean isComputed(Arg value) {
        return value instanceof Arg.Ref ref && params.stream().noneMatch(p -> p.id() == ref.id());
    }

    public boolean isVariable(Arg value) {
        return variables.stream().anyMatch(v -> value.equals(new Arg.Ref(v.id())));
    }

    /** The operator that computes a value; empty for inputs, variables and constants. */
    public Optional<Binding> producer(Arg value) {
        return value instanceof Arg.Ref ref ? Optional.ofNullable(producers.get(ref.id())) : Optional.empty();
    }

    /** The variables so far. */
    public List<Variable> variables() {
        return variables;
    }

    /** The inputs so far. */
    public List<Parameter> params() {
        return params;
    }

    /** The operator calls so far. */
    public List<Binding> bindings() {
        return bindings;
    }

    /** The function with these results. */
    public Function build(String name, List<Result> results) {
        return new Function(name, params, bindings, results, List.of(), variables, functions);
    }

    private TensorType infer(Op op, List<Arg> args) {
        return op.infer(args.stream().map(this::type).toList());
    }

    private Arg.Ref bind(Arg.Ref value, Op op, List<Arg> args, Origin origin) {
        TensorType type = type(value);
        if (type.isLargerThan(TensorType.MAX_BYTES)) {
            throw new IllegalArgumentException(
                    "the result " + type.text() + " has more than " + TensorType.MAX_BYTES + " bytes");
        }
        if (++emitted > MAX_OPERATORS) {
            throw Failure.MODEL.exception(
                    "the model becomes more than " + MAX_OPERATORS + " operators",
                    origin.text(),
                    "a model for a microcontroller",
                    "Unrolled loops and sequences count with each of their steps");
        }
        add(new Binding(value.id(), op, args, type, origin));
        return value;
    }

    private void add(Binding binding) {
        bindings.add(binding);
        producers.put(binding.id(), binding);
    }
}
