// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Turns 1x1 convolutions that were written in place of fully connected layers back into these: (1, rows, 1, inputs) becomes (rows,
 * inputs). Bias, rescaling and clamp follow; they compute the same.
 */
final class DenseFromConv {
    private final Function function;
    private final Set<String> names;
    private final Map<Integer, TensorType> types;
    private final List<Binding> bindings = new ArrayList<>();

    /** The value (rows, units) that holds the elements of a value (1, rows, 1, units). */
    private final Map<Integer, Integer> flat = new HashMap<>();

    /** The values that only the layer's own bias, rescaling or clamp reads. */
    private final Set<Integer> inner = new HashSet<>();

    private int next;

    private DenseFromConv(Function function, Set<String> names) {
        this.function = function;
        this.names = names;
        this.types = function.types();
        this.next =
                1 + types.keySet().stream().mapToInt(Integer::intValue).max().orElse(0);
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
                .filter(binding -> names.contains(binding.origin().tensor()) && !(binding.op() instanceof QnnConv2d))
                .forEach(binding -> inner.add(binding.ref(0)));
        for (Binding binding : function.bindings()) {
            if (!names.contains(binding.origin().tensor())) {
                bindings.add(binding);
            } else if (binding.op() instanceof QnnConv2d conv) {
                layer(binding, conv);
            } else {
                List<Arg> args = new ArrayList<>(binding.args());
                args.set(0, new Arg.Ref(flat.get(binding.ref(0))));
                add(binding, onRows(binding.op()), args);
            }
        }
        return function.withBindings(bindings);
    }

    private void layer(Binding binding, QnnConv2d conv) {
        Constant weights = binding.constant(1);
        Shape image = types.get(binding.ref(0)).shape();
        TensorType rows = new TensorType(
                Shape.of(image.dim(1), image.dim(3)), types.get(binding.ref(0)).dtype());
        Arg.Ref data = bound(new Reshape(rows.shape()), List.of(binding.args().get(0)), rows, binding);
        TensorType matrix = new TensorType(
                Shape.of(conv.channels(), image.dim(3)), weights.type().dtype());
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
        Shape image = binding.type().shape();
        TensorType rows = new TensorType(
                Shape.of(image.dim(1), image.dim(3)), binding.type().dtype());
        Arg.Ref value = bound(op, args, rows, binding);
        flat.put(binding.id(), value.id());
        if (!inner.contains(binding.id())) {
            bindings.add(
                    new Binding(binding.id(), new Reshape(image), List.of(value), binding.type(), binding.origin()));
        }
    }

    private Arg.Ref bound(Op op, List<Arg> args, TensorType type, Binding at) {
        bindings.add(new Binding(next, op, args, type, at.origin()));
        return new Arg.Ref(next++);
    }
}
