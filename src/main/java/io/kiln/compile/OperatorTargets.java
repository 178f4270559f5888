// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.Artifact;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.If;
import io.kiln.ir.op.call.While;
import io.kiln.lower.FusedOperator;
import io.kiln.partition.ExternalFunction;
import io.kiln.partition.ExternalModule;
import io.kiln.partition.Externals;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Keys of the targets that read and write what operators take, by the id that each computes. */
final class OperatorTargets {
    private static final Set<String> CORE = Set.of(Artifact.HOST);

    private final Map<Integer, Set<String>> byOutput = new HashMap<>();

    /**
     * The targets of a function's operators.
     *
     * @param called functions of other code generators within the functions that the operators call
     */
    OperatorTargets(
            List<FusedOperator> operators,
            ExternalModule outside,
            Externals externals,
            Collection<ExternalFunction> called) {
        Set<String> callers = new TreeSet<>(CORE);
        called.forEach(function -> callers.add(externals.targetKey(function)));
        for (FusedOperator operator : operators) {
            Op op = operator.root().op();
            boolean calls = op instanceof If || op instanceof While;
            byOutput.put(
                    operator.output(),
                    outside.takes(operator) ? Set.of(outside.targetKey(operator)) : calls ? callers : CORE);
        }
    }

    /** The targets of the operator that computes a value. */
    Set<String> of(int output) {
        return byOutput.getOrDefault(output, CORE);
    }
}
