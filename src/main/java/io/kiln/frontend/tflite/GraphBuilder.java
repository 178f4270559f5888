// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.Bytes;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.op.Copy;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.Interpreter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Collects parameters and bindings, and knows which value stands for which tensor of the file. */
final class GraphBuilder {
    private final List<Parameter> params = new ArrayList<>();
    private final List<Binding> bindings = new ArrayList<>();
    private final List<TensorType> types = new ArrayList<>();
    private final Map<Integer, Arg> values = new HashMap<>();
    private final Map<List<Integer>, Bytes> constantData = new HashMap<>();

    void addParameter(TfliteTensor tensor) {
        Arg.Ref value = newValue(tensor.type());
        params.add(new Parameter(
                value.id(), tensor.name(), tensor.type(), tensor.quantization().affine()));
        values.put(tensor.index(), value);
    }

    /**
     * Appends an operator call; what follows from constants alone, or has no elements, becomes a constant at once.
     *
     * @throws IllegalArgumentException if the arguments do not fit the operator
     */
    Arg emit(Op op, List<Arg> args, Origin origin) {
        TensorType type = op.infer(args.stream().map(this::type).toList());
        if (type.shape().elements() == 0) {
            return new Constant("", type, Bytes.wrap(new byte[0]));
        }
        if (args.stream().allMatch(Constant.class::isInstance)) {
            return Interpreter.fold(op, args.stream().map(Constant.class::cast).toList(), type);
        }
        return bind(op, args, type, origin);
    }

    private Arg.Ref bind(Op op, List<Arg> args, TensorType type, Origin origin) {
        Arg.Ref value = newValue(type);
        bindings.add(new Binding(value.id(), op, args, type, origin));
        return value;
    }

    /** The value of a tensor in memory of its own, even if it is known at build time. */
    Arg.Ref computed(int tensor, Origin origin) {
        Arg value = values.get(tensor);
        if (value instanceof Arg.Ref ref) {
            return ref;
        }
        return bind(new Copy(), List.of(value), type(value), origin);
    }

    TensorType type(Arg arg) {
        return arg instanceof Constant constant ? constant.type() : types.get(((Arg.Ref) arg).id());
    }

    void define(int tensor, Arg value) {
        values.put(tensor, value);
    }

    /** Stands in for the result of an operator that could not be imported, so that what follows is still checked. */
    void defineUnknown(int tensor, TensorType type) {
        values.put(tensor, newValue(type));
    }

    Optional<Arg> value(int tensor) {
        return Optional.ofNullable(values.get(tensor));
    }

    /** A tensor known at build time; tensors that share bytes in the file share them here. */
    Constant constant(TfliteTensor tensor) {
        if (tensor.folded().isPresent()) {
            return tensor.folded().orElseThrow();
        }
        FlatVector data = tensor.data();
        Bytes bytes = constantData.computeIfAbsent(List.of(data.start(), data.size()), key -> Bytes.wrap(data.bytes()));
        return new Constant(tensor.name(), tensor.type(), bytes);
    }

    List<Parameter> params() {
        return params;
    }

    List<Binding> bindings() {
        return bindings;
    }

    private Arg.Ref newValue(TensorType type) {
        types.add(type);
        return new Arg.Ref(types.size() - 1);
    }
}
