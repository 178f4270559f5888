// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operator;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.SignChange;
import io.kiln.frontend.tflite.flatbuffer.FlatVector;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Variable;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.ConstantFolder;
import io.kiln.reference.Interpreter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Collects parameters and bindings, and maps tensors of the file to values. */
public final class GraphBuilder {
    private final List<Parameter> params = new ArrayList<>();
    private final List<Binding> bindings = new ArrayList<>();
    private final List<TensorType> types = new ArrayList<>();
    private final Map<Integer, Arg> values = new HashMap<>();
    private final List<Variable> variables = new ArrayList<>();
    private final List<Function> functions = new ArrayList<>();
    private final Map<Integer, String> handles = new HashMap<>();
    private final Map<String, Variable> resources = new LinkedHashMap<>();
    private final Map<Integer, Arg> otherSigned = new HashMap<>();
    private final Map<List<Integer>, Bytes> constantData = new HashMap<>();

    private final ConstantFolder folder;

    /** @param folder computes constants of all graphs of the model */
    public GraphBuilder(ConstantFolder folder) {
        this.folder = folder;
    }

    /** Computes constants. */
    public ConstantFolder folder() {
        return folder;
    }

    public void addParameter(TfliteTensor tensor) {
        Arg.Ref value = newValue(tensor.type());
        params.add(new Parameter(
                value.id(), tensor.name(), tensor.type(), tensor.quantization().affine()));
        values.put(tensor.index(), value);
    }

    /**
     * A tensor that keeps its value. Its initial value is 0 in every byte, or the zero point if it is int8, as in
     * TensorFlow Lite Micro.
     */
    public void addVariable(TfliteTensor tensor) {
        byte[] initial = new byte[Math.toIntExact(tensor.type().bytes())];
        if (tensor.dtype() == DType.INT8 && tensor.quantization().isPresent()) {
            Arrays.fill(initial, (byte) tensor.quantization().zeroPoint());
        }
        values.put(tensor.index(), newVariable(tensor.name(), tensor.type(), Bytes.wrap(initial)));
    }

    /** A variable local to this graph, initially zero. */
    public Arg.Ref newVariable(String name, TensorType type) {
        return newVariable(name, type, Bytes.wrap(new byte[Math.toIntExact(type.bytes())]));
    }

    /** A variable local to this graph. */
    public Arg.Ref newVariable(String name, TensorType type, Bytes initial) {
        Arg.Ref value = newValue(type);
        variables.add(new Variable(value.id(), name, type, initial));
        return value;
    }

    /** Adds a function that operators call, and returns its index. */
    public int addFunction(Function function) {
        functions.add(function);
        return functions.size() - 1;
    }

    public List<Function> functions() {
        return functions;
    }

    /** Maps a tensor to the handle of a variable that subgraphs share by name; its value is meaningless. */
    public void defineHandle(int tensor, String name) {
        handles.put(tensor, name);
        define(tensor, Constant.scalar(0));
    }

    /** The name of the variable whose handle a tensor is. */
    public Optional<String> handle(int tensor) {
        return Optional.ofNullable(handles.get(tensor));
    }

    /** A shared variable; created with zeros at its first use. Empty if it was used with another type. */
    public Optional<Arg.Ref> resource(String name, TensorType type) {
        Variable variable = resources.get(name);
        if (variable == null) {
            variable =
                    new Variable(newValue(type).id(), name, type, Bytes.wrap(new byte[Math.toIntExact(type.bytes())]));
            variables.add(variable);
            resources.put(name, variable);
        }
        return variable.type().equals(type) ? Optional.of(new Arg.Ref(variable.id())) : Optional.empty();
    }

    /** Gives shared variables other initial values. */
    public void begin(Map<String, Variable> initialised, Interpreter.State state) {
        initialised.forEach((name, other) -> {
            Arg.Ref own = resource(name, other.type()).orElseThrow(() -> new IllegalArgumentException(name));
            Variable variable = new Variable(own.id(), name, other.type(), state.value(other.id()));
            variables.replaceAll(v -> v.id() == own.id() ? variable : v);
            resources.put(name, variable);
        });
    }

    public List<Variable> variables() {
        return variables;
    }

    /** The shared variables, by name. */
    public Map<String, Variable> resources() {
        return resources;
    }

    /**
     * Appends an operator call; a result that depends on constants only, or has no elements, becomes a constant at
     * once.
     *
     * @throws IllegalArgumentException if the arguments do not fit the operator
     */
    Arg emit(Op op, List<Arg> args, Origin origin) {
        TensorType type = infer(op, args);
        if (type.shape().elements() == 0 && op.writes().isEmpty()) {
            return new Constant("", type, Bytes.wrap(new byte[0]));
        }
        if (args.stream().allMatch(Constant.class::isInstance) && !op.has(Trait.OPAQUE)) {
            return folder.fold(op, args.stream().map(Constant.class::cast).toList(), type, origin.text());
        }
        return bind(op, args, type, origin);
    }

    /**
     * The result type of an operator call.
     *
     * @throws IllegalArgumentException if the arguments do not fit the operator
     */
    TensorType infer(Op op, List<Arg> args) {
        return op.infer(args.stream().map(this::type).toList());
    }

    private Arg.Ref bind(Op op, List<Arg> args, TensorType type, Origin origin) {
        Arg.Ref value = newValue(type);
        bindings.add(new Binding(value.id(), op, args, type, origin));
        return value;
    }

    /**
     * The value of a tensor in an element type: quantized bytes are available signed and unsigned once requested.
     *
     * @param origin the operator that requests it
     */
    public Optional<Arg> value(int tensor, DType dtype, Origin origin) {
        Arg held = values.get(tensor);
        if (held == null
                || type(held).dtype() == dtype
                || !SignedBytes.convert(type(held).dtype(), dtype)) {
            return Optional.ofNullable(held);
        }
        if (variables.stream().anyMatch(v -> held.equals(new Arg.Ref(v.id())))) {
            return Optional.of(converted(held, dtype, origin));
        }
        Arg known = otherSigned.get(tensor);
        if (known == null) {
            known = converted(held, dtype, origin);
            otherSigned.put(tensor, known);
        }
        return Optional.of(known);
    }

    /** Converts quantized bytes to signed or unsigned. */
    private Arg converted(Arg value, DType dtype, Origin origin) {
        return emit(SignChange.to(dtype), SignChange.arguments(value), origin);
    }

    /** The value of a tensor in its own memory; constants and parameters are copied. */
    public Arg.Ref computed(int tensor, DType dtype, Origin origin) {
        Arg value = value(tensor, dtype, origin).orElseThrow();
        boolean isParameter = params.stream().anyMatch(p -> value.equals(new Arg.Ref(p.id())));
        return value instanceof Arg.Ref ref && !isParameter ? ref : copied(value, origin);
    }

    /** A copy of a value. */
    public Arg.Ref copied(Arg value, Origin origin) {
        return bind(new Copy(), List.of(value), type(value), origin);
    }

    public TensorType type(Arg arg) {
        return arg instanceof Constant constant ? constant.type() : types.get(((Arg.Ref) arg).id());
    }

    public void define(int tensor, Arg value) {
        values.put(tensor, value);
    }

    /** Replaces the result of an operator that could not be imported, so that later operators are still checked. */
    public void defineUnknown(int tensor, TensorType type) {
        values.put(tensor, newValue(type));
    }

    public Optional<Arg> value(int tensor) {
        return Optional.ofNullable(values.get(tensor));
    }

    /** The data of a constant tensor; tensors that share bytes in the file share them here. */
    public Constant constant(TfliteTensor tensor) {
        if (tensor.folded().isPresent()) {
            return tensor.folded().orElseThrow();
        }
        FlatVector data = tensor.data();
        Bytes bytes = constantData.computeIfAbsent(List.of(data.start(), data.size()), key -> Bytes.wrap(data.bytes()));
        return new Constant(tensor.name(), tensor.type(), bytes);
    }

    public List<Parameter> params() {
        return params;
    }

    public List<Binding> bindings() {
        return bindings;
    }

    private Arg.Ref newValue(TensorType type) {
        types.add(type);
        return new Arg.Ref(types.size() - 1);
    }
}
