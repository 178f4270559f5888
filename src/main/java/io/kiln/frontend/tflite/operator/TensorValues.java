// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operator;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.SignChange;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatVector;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Origin;
import io.kiln.ir.Variable;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.Interpreter;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** The values of a subgraph's tensors in the function that it becomes. */
public final class TensorValues {
    private final GraphBuilder graph;
    private final Map<Integer, Arg> values = new HashMap<>();
    private final Map<Integer, String> handles = new HashMap<>();
    private final Map<String, Arg.Ref> resources;
    private final Map<Integer, Arg> otherSigned = new HashMap<>();
    private final Map<List<Object>, Bytes> constantData = new HashMap<>();

    /** @param graph builds the function */
    public TensorValues(GraphBuilder graph) {
        this.graph = graph;
        this.resources = new LinkedHashMap<>();
    }

    private TensorValues(TensorValues around) {
        this.graph = around.graph;
        this.resources = around.resources;
    }

    /** The values of another subgraph that becomes part of the same function, with the same variables. */
    public TensorValues inside() {
        return new TensorValues(this);
    }

    public GraphBuilder graph() {
        return graph;
    }

    public void addParameter(TfliteTensor tensor) {
        define(
                tensor.index(),
                graph.parameter(
                        tensor.name(), tensor.type(), tensor.quantization().affine()));
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
        define(tensor.index(), graph.variable(tensor.name(), tensor.type(), Bytes.wrap(initial)));
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
        Arg.Ref variable = resources.computeIfAbsent(name, key -> graph.variable(key, type));
        return graph.type(variable).equals(type) ? Optional.of(variable) : Optional.empty();
    }

    /** Gives shared variables other initial values. */
    public void begin(Map<String, Variable> initialised, Interpreter.State state) {
        initialised.forEach((name, other) -> graph.initialize(
                resource(name, other.type()).orElseThrow(() -> new IllegalArgumentException(name)),
                state.value(other.id())));
    }

    /** The shared variables, by name. */
    public Map<String, Variable> resources() {
        Map<String, Variable> byName = new LinkedHashMap<>();
        Set<Arg> shared = new HashSet<>(resources.values());
        graph.variables().stream()
                .filter(v -> shared.contains(new Arg.Ref(v.id())))
                .forEach(v -> byName.put(v.name(), v));
        return byName;
    }

    /**
     * The value of a tensor in an element type: quantized bytes are available signed and unsigned once requested.
     *
     * @param origin the operator that requests it
     */
    public Optional<Arg> value(int tensor, DType dtype, Origin origin) {
        Arg held = values.get(tensor);
        if (held == null
                || graph.type(held).dtype() == dtype
                || !SignedBytes.convert(graph.type(held).dtype(), dtype)) {
            return Optional.ofNullable(held);
        }
        if (graph.isVariable(held)) {
            return Optional.of(converted(held, dtype, origin));
        }
        return Optional.of(otherSigned.computeIfAbsent(tensor, key -> converted(held, dtype, origin)));
    }

    /** Converts quantized bytes to signed or unsigned. */
    private Arg converted(Arg value, DType dtype, Origin origin) {
        return graph.emit(SignChange.to(dtype), SignChange.arguments(value), origin);
    }

    public void define(int tensor, Arg value) {
        values.put(tensor, value);
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
        Bytes bytes = constantData.computeIfAbsent(
                List.of(data.buffer(), data.start(), data.size()), key -> Bytes.wrap(data.bytes()));
        return new Constant(tensor.name(), tensor.type(), bytes);
    }

    /**
     * Converts quantized tensors of uint8, as in models of TensorFlow 1, to int8: elements and zero points are reduced by
     * 128, so that the real values stay the same. Importers support int8 only. Bytes that are not quantized are unchanged.
     */
    public static final class SignedBytes {
        private final OperatorRecord operator;
        private final TensorValues values;
        private final List<Optional<TfliteTensor>> inputs;
        private final boolean isSigned;
        private final boolean isEither;

        /**
         * The tensors of an operator, as in the file.
         *
         * @param uint8 how its importer sees quantized uint8
         */
        public SignedBytes(
                OperatorRecord operator,
                Registration.Uint8 uint8,
                TensorValues values,
                List<Optional<TfliteTensor>> inputs) {
            this.operator = operator;
            this.values = values;
            this.inputs = inputs;
            this.isSigned = uint8 == Registration.Uint8.AS_INT8;
            this.isEither = uint8 == Registration.Uint8.AS_HELD;
        }

        /** Whether the operator mixes signed and unsigned quantized bytes. */
        public boolean areMixed(List<TfliteTensor> outputs) {
            List<TfliteTensor> all = Stream.concat(inputs.stream().flatMap(Optional::stream), outputs.stream())
                    .toList();
            return isSigned
                    && all.stream().anyMatch(TfliteTensor::isQuantizedUint8)
                    && all.stream()
                            .anyMatch(t ->
                                    t.dtype() == DType.INT8 && t.quantization().isPresent());
        }

        /** The inputs as the operator's importer sees them. */
        public List<Optional<TfliteTensor>> inputs() {
            return inputs.stream().map(input -> input.map(this::input)).toList();
        }

        private TfliteTensor input(TfliteTensor tensor) {
            boolean isHeldSigned = !tensor.isConstant()
                    && values.value(tensor.index())
                            .filter(value -> values.graph().type(value).dtype() == DType.INT8)
                            .isPresent();
            if (!tensor.isQuantizedUint8() || !(isSigned || (isEither && isHeldSigned))) {
                return tensor;
            }
            if (!tensor.isConstant()) {
                return tensor.asInt8(Optional.empty());
            }
            operator.table().spend(tensor.type().bytes());
            return tensor.asInt8(Optional.of(of(values.constant(tensor), DType.INT8)));
        }

        /** The outputs as the operator's importer sees them; a rescaling of int8 to uint8 results in uint8 directly. */
        public List<TfliteTensor> outputs(List<TfliteTensor> outputs) {
            boolean ofUint8OrReal = isEither
                    && inputs.stream()
                            .flatMap(Optional::stream)
                            .allMatch(t -> t.isQuantizedUint8() || t.dtype().isFloat());
            return outputs.stream()
                    .map(t -> t.isQuantizedUint8() && (isSigned || ofUint8OrReal) ? t.asInt8(Optional.empty()) : t)
                    .toList();
        }

        /** Whether a conversion between the types is a change of 128. */
        static boolean convert(DType from, DType to) {
            return (from == DType.UINT8 && to == DType.INT8) || (from == DType.INT8 && to == DType.UINT8);
        }

        /** Whether two types are the same, or differ in the sign of bytes that are available signed and unsigned. */
        public static boolean areSame(TensorType held, TensorType stated) {
            return held.shape().equals(stated.shape())
                    && (held.dtype() == stated.dtype() || convert(held.dtype(), stated.dtype()));
        }

        /** A constant in a type that differs at most in its sign. */
        public static Constant of(Constant constant, DType to) {
            if (!convert(constant.type().dtype(), to)) {
                return constant;
            }
            byte[] bytes = constant.data().toArray();
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] ^= (byte) 0x80;
            }
            return new Constant(constant.name(), new TensorType(constant.type().shape(), to), Bytes.wrap(bytes));
        }
    }
}
