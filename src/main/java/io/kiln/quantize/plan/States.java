// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.ir.Arg;
import io.kiln.ir.Function;
import io.kiln.quantize.graph.Node;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What nodes keep between runs. */
public final class States {
    private States() {}

    /** Whether all float variables that a node changes begin with zeros, as those of a TensorFlow Lite model do. */
    public static boolean areZero(Function function, Node node) {
        Set<Integer> changed = node.op().writes().stream()
                .map(position -> node.args().get(position))
                .filter(Arg.Ref.class::isInstance)
                .map(arg -> ((Arg.Ref) arg).id())
                .collect(Collectors.toSet());
        return function.variables().stream()
                .filter(v -> changed.contains(v.id()) && v.type().dtype().isFloat())
                .allMatch(v -> IntStream.range(0, v.initial().size())
                        .allMatch(i -> v.initial().buffer().get(i) == 0));
    }
}
