// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.op.layer.TreeEnsemble;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Decision trees as a file states them. A child, like a root, is a split, or {@code -1 - leaf}.
 *
 * @param splits all splits, of all trees
 * @param roots one for each tree, in order
 * @param leaves the votes of each leaf
 */
record Forest(List<Split> splits, List<Integer> roots, List<List<Vote>> leaves) {
    /** A comparison of a feature with a value of a split; each is false for NaN, but for {@link #NEQ}. */
    enum Mode {
        LEQ,
        LT,
        GTE,
        GT,
        EQ,
        NEQ,
        /** Whether the feature is one of the values. */
        MEMBER
    }

    /**
     * A split.
     *
     * @param feature the feature, from 0
     * @param mode how it is compared
     * @param values with what: one, but for {@link Mode#MEMBER}
     * @param isMissingTrue whether NaN goes to the true branch, whatever the comparison says
     * @param yes the child where the comparison holds
     * @param no the other child
     */
    record Split(int feature, Mode mode, List<Double> values, boolean isMissingTrue, int yes, int no) {
        Split {
            values = List.copyOf(values);
        }
    }

    /** A leaf's vote for a target. */
    record Vote(int target, float weight) {}

    Forest {
        splits = List.copyOf(splits);
        roots = List.copyOf(roots);
        leaves = List.copyOf(leaves);
    }

    /**
     * The same trees, of which leaves that vote alike are one leaf.
     *
     * @param targets number of targets
     */
    Forest checked(NodeContext node, int features, int targets) {
        node.require(!roots.isEmpty(), "it has no trees", "at least one");
        for (Split split : splits) {
            node.require(
                    split.feature >= 0 && split.feature < features,
                    "a split tests feature " + split.feature + " of data with " + features,
                    "a feature of the data");
            node.require(split.values.stream().noneMatch(value -> value.isNaN()), "a threshold is NaN", "numbers");
        }
        Map<List<Vote>, Integer> different = new LinkedHashMap<>();
        int[] same = leaves.stream()
                .map(leaf -> checked(node, leaf, targets))
                .mapToInt(leaf -> {
                    int next = different.size();
                    return different.computeIfAbsent(leaf, key -> next);
                })
                .toArray();
        List<Split> renumbered = splits.stream()
                .map(s ->
                        new Split(s.feature, s.mode, s.values, s.isMissingTrue, moved(s.yes, same), moved(s.no, same)))
                .toList();
        return new Forest(
                renumbered, roots.stream().map(root -> moved(root, same)).toList(), List.copyOf(different.keySet()));
    }

    private static int moved(int child, int[] leaves) {
        return child < 0 ? -1 - leaves[-1 - child] : child;
    }

    private static List<Vote> checked(NodeContext node, List<Vote> leaf, int targets) {
        for (Vote vote : leaf) {
            node.require(
                    vote.target >= 0 && vote.target < targets,
                    "a leaf votes for target " + vote.target + " of " + targets,
                    "a target below their number");
            node.require(Float.isFinite(vote.weight), "a leaf's weight is " + vote.weight, "a finite number");
        }
        List<Vote> sorted =
                leaf.stream().sorted(Comparator.comparingInt(Vote::target)).toList();
        node.require(
                sorted.stream().map(Vote::target).distinct().count() == leaf.size(),
                "a leaf votes twice for one target",
                "one vote for each");
        return sorted;
    }

    /** The reachable splits: each before its children, that of the true branch next if it is nobody else's child. */
    int[] order(NodeContext node) {
        byte[] states = new byte[splits.size()];
        int[] finished = new int[splits.size()];
        int[] stack = new int[splits.size() + 1];
        int count = 0;
        for (int tree = roots.size() - 1; tree >= 0; tree--) {
            int depth = 0;
            if (roots.get(tree) >= 0 && states[roots.get(tree)] == 0) {
                stack[depth++] = roots.get(tree);
            }
            while (depth > 0) {
                int at = stack[depth - 1];
                Split split = splits.get(at);
                int step = states[at]++;
                if (step == 2) {
                    finished[count++] = at;
                    depth--;
                    continue;
                }
                int child = step == 0 ? split.no : split.yes;
                if (child >= 0) {
                    node.require(
                            states[child] == 0 || states[child] == 3, "its splits form a loop", "trees without loops");
                    if (states[child] == 0) {
                        stack[depth++] = child;
                    }
                }
            }
        }
        int[] order = new int[count];
        for (int i = 0; i < count; i++) {
            order[i] = finished[count - 1 - i];
        }
        return order;
    }

    /** For each target whether every row gets a vote for it: one tree votes for it in all of its leaves. */
    boolean[] alwaysVoted(NodeContext node, int targets) {
        int[] order = order(node);
        int[] everywhere = new int[targets];
        // The targets of all leaves below a split, from the last split to the first.
        Map<Integer, List<Integer>> below = new LinkedHashMap<>();
        for (int i = order.length - 1; i >= 0; i--) {
            Split split = splits.get(order[i]);
            below.put(order[i], common(voted(split.yes, below), voted(split.no, below)));
        }
        roots.forEach(root -> voted(root, below).forEach(target -> everywhere[target]++));
        boolean[] always = new boolean[targets];
        for (int i = 0; i < targets; i++) {
            always[i] = everywhere[i] > 0;
        }
        return always;
    }

    private List<Integer> voted(int child, Map<Integer, List<Integer>> below) {
        return child >= 0
                ? below.get(child)
                : leaves.get(-1 - child).stream().map(Vote::target).toList();
    }

    private static List<Integer> common(List<Integer> a, List<Integer> b) {
        return a.equals(b) ? a : a.stream().filter(b::contains).toList();
    }

    /** Most splits, leaves and votes. */
    static final int MOST = TreeEnsemble.MOST;
}
