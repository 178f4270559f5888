// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform.layout;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Result;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.reference.ConstantFolder;
import io.kiln.transform.EliminateDeadBindings;
import io.kiln.transform.Pass;
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
        for (Binding binding : function.bindings()) {
            rewrite(binding, rewriter, columns);
        }
        List<Result> results = results(function, rewriter);
        Function rewritten = function.withBindings(rewriter.graph().bindings()).withResults(results);
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
            rewriter.graph()
                    .keep(binding.with(binding.args().stream()
                            .map(arg -> rewriter.materialize(arg, binding.origin()))
                            .toList()));
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

    /** A result in memory of its own. */
    private static Result result(Result result, Origin origin, Rewriter rewriter) {
        Arg value = rewriter.materialize(new Arg.Ref(result.id()), origin);
        return result.of(rewriter.graph().own(value, origin).id());
    }
}
