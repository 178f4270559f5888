// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
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
                .filter(binding -> names.contains(binding.origin().tensor()) && !(binding.op() instanceof QnnConv2d))
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
