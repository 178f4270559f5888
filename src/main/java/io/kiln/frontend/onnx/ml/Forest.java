// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.FloatKeys;
import io.kiln.ir.op.layer.TreeEnsemble;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

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

    /** The same trees, of which leaves that vote alike are one leaf. */
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

    /**
     * Makes the constants of a {@link TreeEnsemble}: every comparison becomes one or two of the form {@code key <= threshold}, which say where
     * NaN goes, too.
     */
    static final class ForestTables {
        private final int features;
        private final int[] entries;
        private final ByteBuffer nodes;
        private int count;

        private ForestTables(NodeContext context, Forest forest, int features) {
            this.features = features;
            this.entries = new int[forest.splits().size()];
            int[] order = forest.order(context);
            long size = 0;
            for (int split : order) {
                entries[split] = (int) size;
                size += size(forest.splits().get(split));
                context.require(
                        size <= Forest.MOST,
                        "it has more than " + Forest.MOST + " comparisons",
                        "a model that fits a board");
            }
            this.nodes = ByteBuffer.allocate((int) size * TreeEnsemble.FIELDS * Integer.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN);
            for (int split : order) {
                add(forest.splits().get(split));
            }
        }

        /** The aggregated votes for rows of data. */
        static Arg emit(NodeContext context, Arg data, Forest forest, TreeEnsemble op) {
            int features = context.type(data).shape().dim(1);
            ForestTables tables = new ForestTables(context, forest, features);
            int votes = forest.leaves().stream().mapToInt(List::size).sum();
            int[] roots = forest.roots().stream().mapToInt(tables::child).toArray();
            int[] first = new int[forest.leaves().size() + 1];
            int[] targets = new int[votes];
            float[] weights = new float[votes];
            int vote = 0;
            for (int leaf = 0; leaf < forest.leaves().size(); leaf++) {
                for (Vote each : forest.leaves().get(leaf)) {
                    targets[vote] = each.target();
                    weights[vote++] = each.weight();
                }
                first[leaf + 1] = vote;
            }
            TensorType type = new TensorType(Shape.of(tables.count, TreeEnsemble.FIELDS), DType.INT32);
            Constant nodes = new Constant("", type, Bytes.wrap(tables.nodes.array()));
            return context.emit(
                    op,
                    data,
                    nodes,
                    Constant.vector(roots),
                    Constant.vector(first),
                    Constant.vector(targets),
                    Constant.vector(weights));
        }

        private static int size(Split split) {
            return switch (split.mode()) {
                case LEQ, LT, GTE, GT -> 1;
                case EQ, NEQ -> 2;
                case MEMBER -> Math.max(1, 2 * new TreeSet<>(split.values()).size());
            };
        }

        private int child(int child) {
            return child >= 0 ? entries[child] : child;
        }

        private void add(Split split) {
            int yes = child(split.yes());
            int no = child(split.no());
            boolean isMissingTrue = split.isMissingTrue();
            double value = split.values().isEmpty() ? 0 : split.values().get(0);
            switch (split.mode()) {
                case LEQ -> node(split, isMissingTrue, atMost(value), yes, no);
                case LT -> node(split, isMissingTrue, below(value), yes, no);
                case GTE -> node(split, !isMissingTrue, below(value), no, yes);
                case GT -> node(split, !isMissingTrue, atMost(value), no, yes);
                case EQ -> equal(split, value, isMissingTrue, yes, no);
                case NEQ -> equal(split, value, false, no, yes);
                case MEMBER -> member(split, yes, no);
            }
        }

        private void member(Split split, int yes, int no) {
            TreeSet<Double> values = new TreeSet<>(split.values());
            if (values.isEmpty()) {
                node(split, split.isMissingTrue(), FloatKeys.key(Float.NEGATIVE_INFINITY) - 1, yes, no);
            }
            while (!values.isEmpty()) {
                double value = values.pollFirst();
                equal(split, value, split.isMissingTrue(), yes, values.isEmpty() ? no : count + 2);
            }
        }

        /** Not above the value, and not below it. */
        private void equal(Split split, double value, boolean isMissingEqual, int yes, int no) {
            node(split, isMissingEqual, atMost(value), count + 1, no);
            node(split, false, below(value), no, yes);
        }

        private void node(Split split, boolean isMissingThen, int threshold, int then, int otherwise) {
            nodes.putInt(isMissingThen ? features + split.feature() : split.feature())
                    .putInt(threshold)
                    .putInt(then)
                    .putInt(otherwise);
            count++;
        }

        /** The key of the greatest float that is not above a value: 0 and -0 are equal. */
        private static int atMost(double value) {
            float nearest = (float) value;
            float greatest = nearest > value ? Math.nextDown(nearest) : nearest;
            return FloatKeys.key(greatest == 0 ? 0f : greatest);
        }

        /** The key of the greatest float below a value. */
        private static int below(double value) {
            float nearest = (float) value;
            return nearest == value ? FloatKeys.key(value == 0 ? -0f : nearest) - 1 : atMost(value);
        }
    }
}
