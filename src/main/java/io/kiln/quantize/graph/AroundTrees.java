// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.graph;

import io.kiln.ir.Arg;
import io.kiln.ir.op.layer.TreeEnsemble;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What prepares the data that trees compare, and what computes with their votes: both stay float, because few steps would move features
 * over thresholds and make scores equal, between which the label decides. Layers with weights end either.
 */
public final class AroundTrees {
    private AroundTrees() {}

    /** The outputs of these nodes. */
    public static Set<Integer> of(FloatGraph graph) {
        List<Node> nodes = graph.nodes();
        Set<Integer> compared = new HashSet<>();
        for (int i = nodes.size() - 1; i >= 0; i--) {
            Node node = nodes.get(i);
            if (isEnsemble(node) || isBetween(node, compared.contains(node.output()))) {
                node.data().stream()
                        .filter(Arg.Ref.class::isInstance)
                        .forEach(arg -> compared.add(((Arg.Ref) arg).id()));
            }
        }
        Set<Integer> scores = new HashSet<>();
        Set<Integer> around = new HashSet<>();
        for (Node node : nodes) {
            boolean readsScores =
                    node.data().stream().anyMatch(arg -> arg instanceof Arg.Ref ref && scores.contains(ref.id()));
            if (isBetween(node, readsScores || compared.contains(node.output()))) {
                around.add(node.output());
            }
            if (isEnsemble(node) || isBetween(node, readsScores)) {
                scores.add(node.output());
            }
        }
        return around;
    }

    private static boolean isEnsemble(Node node) {
        return node.op() instanceof TreeEnsemble;
    }

    private static boolean isBetween(Node node, boolean isNear) {
        return isNear && !isEnsemble(node) && node.layer().isEmpty();
    }
}
