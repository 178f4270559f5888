// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.movement;

import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.movement.Copy;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A subgraph that combines two elements, for STABLEHLO_SCATTER and STABLEHLO_REDUCE_WINDOW; TensorFlow Lite, too, runs one operator at most. */
final class ScalarBody {
    private ScalarBody() {}

    /**
     * What the subgraph computes of its two inputs; empty if it returns the second one.
     *
     * @param kinds functions that the calling operator knows
     */
    static Optional<Binary.Kind> of(OperatorContext operator, int subgraph, Set<Binary.Kind> kinds) {
        Function body = operator.subgraph(subgraph, List.of(), List.of()).function();
        operator.requireThat(
                body.params().size() == 2 && body.results().size() == 1,
                "its subgraph takes " + body.params().size() + " values and computes "
                        + body.results().size(),
                "one of two");
        Arg.Ref first = new Arg.Ref(body.params().get(0).id());
        Arg.Ref second = new Arg.Ref(body.params().get(1).id());
        int result = body.results().get(0).id();
        List<Binding> computed = body.bindings();
        boolean isCopy = computed.size() == 1
                && computed.get(0).id() == result
                && computed.get(0).op() instanceof Copy
                && computed.get(0).args().equals(List.of(second));
        if (isCopy) {
            return Optional.empty();
        }
        boolean isKnown = computed.size() == 1
                && computed.get(0).id() == result
                && computed.get(0).op() instanceof Binary binary
                && kinds.contains(binary.kind())
                && new HashSet<>(computed.get(0).args()).equals(Set.of(first, second));
        operator.requireThat(
                isKnown, "its subgraph is not a function of two elements that TensorFlow Lite runs", kinds.toString());
        return Optional.of(((Binary) computed.get(0).op()).kind());
    }
}
