// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform.layout;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Result;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.transform.EliminateDeadBindings;
import io.kiln.transform.Pass;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

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
        boolean isNeeded = function.bindings().stream().anyMatch(b -> b.op() instanceof Transpose);
        if (!isNeeded) {
            return function;
        }
        Rewriter rewriter = new Rewriter(function);
        ColumnOrders columns = new ColumnOrders(function, rewriter);
        for (Binding binding : function.bindings()) {
            rewrite(binding, rewriter, columns);
        }
        List<Result> results = results(function, rewriter);
        Function rewritten = new Function(
                function.name(),
                function.params(),
                rewriter.bindings(),
                results,
                List.of(),
                function.variables(),
                function.functions());
        return new EliminateDeadBindings().run(rewritten).withIdsInOrder();
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
            rewriter.keep(
                    binding,
                    binding.args().stream()
                            .map(arg -> rewriter.materialize(arg, binding.origin()))
                            .toList());
        }
    }

    /** Each in memory of its own. */
    private static List<Result> results(Function function, Rewriter rewriter) {
        Set<Arg> taken = new HashSet<>();
        function.params().forEach(p -> taken.add(new Arg.Ref(p.id())));
        function.variables().forEach(v -> taken.add(new Arg.Ref(v.id())));
        List<Result> results = new ArrayList<>();
        for (Result result : function.results()) {
            Arg.Ref old = new Arg.Ref(result.id());
            Optional<Binding> binding = function.bindings().stream()
                    .filter(b -> b.id() == result.id())
                    .findFirst();
            if (binding.isEmpty()) {
                results.add(result);
                continue;
            }
            Arg value = rewriter.materialize(old, binding.orElseThrow().origin());
            boolean isOwn = value instanceof Arg.Ref && taken.add(value);
            Arg own = isOwn ? value : copied(value, binding.orElseThrow(), rewriter);
            results.add(new Result(((Arg.Ref) own).id(), result.name(), result.quantization()));
        }
        return results;
    }

    private static Arg copied(Arg value, Binding like, Rewriter rewriter) {
        return rewriter.emit(new Copy(), List.of(value), like.origin());
    }
}
