// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform.layout;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Origin;
import io.kiln.ir.Result;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.reference.ConstantFolder;
import io.kiln.transform.EliminateDeadBindings;
import io.kiln.transform.Pass;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Moves transposes towards the results: behind operators that compute the same in another order of dimensions, into
 * the weights of fully connected layers, and into each other. Those that move no element become reshapes.
 *
 * <p>Sums of floats along a dimension keep their order, except in a fully connected layer whose weights take in a
 * transpose: its sums have another order, so that their rounding differs. Integers stay the same bit for bit.
 */
public final class MoveTransposes implements Pass {
    @Override
    public String name() {
        return "move-transposes";
    }

    @Override
    public Function run(Function function) {
        return run(function, new ConstantFolder(function.constantBytes()));
    }

    @Override
    public Function run(Function function, ConstantFolder folder) {
        boolean isNeeded = function.bindings().stream().anyMatch(b -> b.op() instanceof Transpose);
        if (!isNeeded) {
            return function;
        }
        Rewriter rewriter = new Rewriter(function, folder);
        ColumnOrders columns = new ColumnOrders(function, rewriter);
        Map<Integer, Integer> writes = lastWrites(function);
        for (int i = 0; i < function.bindings().size(); i++) {
            Binding binding = function.bindings().get(i);
            boolean isOfChanging = binding.op() instanceof Transpose
                    && rewriter.view(binding.args().get(0)).base() instanceof Arg.Ref data
                    && writes.getOrDefault(data.id(), -1) > i;
            if (isOfChanging) {
                keep(binding, rewriter);
            } else {
                rewrite(binding, rewriter, columns);
            }
        }
        List<Result> results = results(function, rewriter);
        Function rewritten = function.withBindings(rewriter.graph().bindings()).withResults(results);
        return new EliminateDeadBindings().run(rewritten).withIdsInOrder();
    }

    /**
     * The last call that writes each variable: a transpose of what a variable holds stays before it, because whoever reads the transpose later
     * would read the new value.
     */
    private static Map<Integer, Integer> lastWrites(Function function) {
        Map<Integer, Integer> writes = new HashMap<>();
        for (int i = 0; i < function.bindings().size(); i++) {
            Binding binding = function.bindings().get(i);
            for (int position : binding.op().writes()) {
                if (binding.args().get(position) instanceof Arg.Ref variable) {
                    writes.put(variable.id(), i);
                }
            }
        }
        return writes;
    }

    private static void keep(Binding binding, Rewriter rewriter) {
        rewriter.graph()
                .keep(binding.with(binding.args().stream()
                        .map(arg -> rewriter.materialize(arg, binding.origin()))
                        .toList()));
    }

    private static void rewrite(Binding binding, Rewriter rewriter, ColumnOrders columns) {
        if (binding.op() instanceof Transpose transpose) {
            View data = rewriter.view(binding.args().get(0));
            rewriter.define(binding.id(), new View(data.base(), data.order().then(new Permutation(transpose.axes()))));
            return;
        }
        Optional<View> moved = MovedReshape.of(binding, rewriter)
                .or(() -> columns.of(binding))
                .or(() -> MovedProduct.of(binding, rewriter))
                .or(() -> MovedOperators.of(binding, rewriter))
                .or(() -> MovedElements.of(binding, rewriter));
        if (moved.isPresent()) {
            rewriter.define(binding.id(), moved.orElseThrow());
        } else {
            keep(binding, rewriter);
        }
    }

    private static List<Result> results(Function function, Rewriter rewriter) {
        Map<Integer, Binding> bindings = function.bindingsById();
        return function.results().stream()
                .map(result -> Optional.ofNullable(bindings.get(result.id()))
                        .map(binding -> result(result, binding.origin(), rewriter))
                        .orElse(result))
                .toList();
    }

    /** A result in memory of its own; that of a variable is the variable's. */
    private static Result result(Result result, Origin origin, Rewriter rewriter) {
        GraphBuilder graph = rewriter.graph();
        Arg value = rewriter.materialize(new Arg.Ref(result.id()), origin);
        Arg.Ref own = graph.isVariable(value) ? graph.copied(value, origin) : graph.own(value, origin);
        return result.of(own.id());
    }
}
