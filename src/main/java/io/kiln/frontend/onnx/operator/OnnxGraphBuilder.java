// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.operator;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.element.TflLookup;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.ConstantFolder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Collects parameters and bindings of the function that a model becomes. */
public final class OnnxGraphBuilder {
    /** Far beyond what fits a microcontroller; unrolled loops count. */
    private static final int MAX_BINDINGS = 1 << 16;

    /** A value that is computed when the model runs. */
    private static final long MAX_TENSOR_BYTES = 1L << 28;

    private final List<Parameter> params = new ArrayList<>();
    private final List<Binding> bindings = new ArrayList<>();
    private final Map<Arg, Binding> dequantized = new HashMap<>();
    private final List<TensorType> types = new ArrayList<>();
    private final ConstantFolder folder;

    /** @param folder computes constants */
    public OnnxGraphBuilder(ConstantFolder folder) {
        this.folder = folder;
    }

    /** Adds an input. */
    public Arg.Ref addParameter(String name, TensorType type) {
        Arg.Ref value = newValue(type);
        params.add(new Parameter(value.id(), name, type, Optional.empty()));
        return value;
    }

    /**
     * Appends an operator call; a result that depends on constants only, or has no elements, becomes a constant at
     * once.
     *
     * @throws IllegalArgumentException if the arguments do not fit the operator
     * @throws KilnException if the model becomes too large
     */
    Arg emit(Op op, List<Arg> args, Origin origin) {
        TensorType type = op.infer(args.stream().map(this::type).toList());
        if (type.shape().elements() == 0) {
            return new Constant("", type, Bytes.wrap(new byte[0]));
        }
        if (args.stream().allMatch(Constant.class::isInstance) && !op.has(Trait.OPAQUE)) {
            return folder.fold(op, args.stream().map(Constant.class::cast).toList(), type, origin.text());
        }
        if (type.isLargerThan(MAX_TENSOR_BYTES)) {
            throw new IllegalArgumentException(
                    "a result " + type.text() + " has more than " + MAX_TENSOR_BYTES + " bytes");
        }
        return bind(op, args, type, origin);
    }

    /** A copy of a value in memory of its own. */
    public Arg.Ref copied(Arg value, Origin origin) {
        return bind(new Copy(), List.of(value), type(value), origin);
    }

    /** A value with its dimensions in another order. */
    public Arg moved(Arg value, List<Integer> axes, Origin origin) {
        return emit(new Transpose(axes), List.of(value), origin);
    }

    /** The same value; real numbers that bytes stand for come from a table, so that no float is computed. */
    public Arg lookedUp(Arg value) {
        Binding from = dequantized.get(value);
        if (from == null) {
            return value;
        }
        float[] reals = new float[TflLookup.SIZE];
        for (int i = 0; i < reals.length; i++) {
            long centred = Byte.MIN_VALUE + i - from.constant(2).integer(0);
            reals[i] = centred * from.constant(1).real(0);
        }
        return emit(new TflLookup(), List.of(from.args().get(0), Constant.vector(reals)), from.origin());
    }

    private Arg.Ref bind(Op op, List<Arg> args, TensorType type, Origin origin) {
        if (bindings.size() == MAX_BINDINGS) {
            throw new KilnException(Failure.OPERATOR.problem(
                    "the model becomes more than " + MAX_BINDINGS + " operators",
                    origin.text(),
                    "a model for a microcontroller",
                    "Unrolled loops and sequences count with each of their steps"));
        }
        Arg.Ref value = newValue(type);
        Binding binding = new Binding(value.id(), op, args, type, origin);
        bindings.add(binding);
        if (op instanceof QnnDequantize && type(args.get(0)).dtype() == DType.INT8) {
            dequantized.put(value, binding);
        }
        return value;
    }

    private Arg.Ref newValue(TensorType type) {
        types.add(type);
        return new Arg.Ref(types.size() - 1);
    }

    /** Type of a value. */
    public TensorType type(Arg arg) {
        return arg instanceof Constant constant ? constant.type() : types.get(((Arg.Ref) arg).id());
    }

    /** The inputs, in the order added. */
    public List<Parameter> params() {
        return params;
    }

    /** The operator calls. */
    public List<Binding> bindings() {
        return bindings;
    }
}
