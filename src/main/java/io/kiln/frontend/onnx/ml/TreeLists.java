// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import io.kiln.frontend.onnx.ml.Forest.Mode;
import io.kiln.frontend.onnx.ml.Forest.Split;
import io.kiln.frontend.onnx.ml.Forest.Vote;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.model.OnnxTensor;
import io.kiln.frontend.onnx.operator.NodeContext;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** Reads the parallel lists of TreeEnsembleClassifier and TreeEnsembleRegressor. */
final class TreeLists {
    private static final String LEAF = "LEAF";

    private static final Map<String, Mode> MODES = Map.of(
            "BRANCH_LEQ", Mode.LEQ,
            "BRANCH_LT", Mode.LT,
            "BRANCH_GTE", Mode.GTE,
            "BRANCH_GT", Mode.GT,
            "BRANCH_EQ", Mode.EQ,
            "BRANCH_NEQ", Mode.NEQ);

    private final NodeContext context;
    private final List<Long> trees;
    private final List<Long> ids;
    private final List<String> modes;

    /** The place of each node: a split's, or {@code -1 - leaf}. */
    private final Map<Id, Integer> places = new HashMap<>();

    /** A node of a tree. */
    private record Id(long tree, long node) {}

    private TreeLists(NodeContext context) {
        this.context = context;
        this.trees = context.requiredWholes("nodes_treeids");
        context.require(
                trees.size() <= 2 * Forest.MOST, "it has " + trees.size() + " nodes", "at most " + 2 * Forest.MOST);
        this.ids = wholes("nodes_nodeids");
        this.modes = context.texts("nodes_modes").orElseThrow(() -> context.missing("nodes_modes"));
        fits("nodes_modes", modes.size());
    }

    /**
     * The trees of a node.
     *
     * @param votes beginning of the names of the lists of votes, such as {@code class}
     */
    static Forest read(NodeContext context, String votes) {
        return new TreeLists(context).forest(votes);
    }

    private List<Long> wholes(String name) {
        List<Long> list = context.requiredWholes(name);
        fits(name, list.size());
        return list;
    }

    private void fits(String name, int size) {
        context.require(
                size == trees.size(), "`" + name + "` has " + size + " entries", trees.size() + ", one for each node");
    }

    /** Numbers of a list or, with data of double, of a tensor with as many digits. */
    static List<Double> reals(NodeContext context, String name) {
        Optional<OnnxTensor> tensor = context.tensor(name + "_as_tensor");
        if (tensor.isEmpty()) {
            return context.reals(name).orElse(List.of()).stream()
                    .map(Float::doubleValue)
                    .toList();
        }
        OnnxTensor numbers = tensor.orElseThrow();
        requireLikeData(context, name + "_as_tensor", numbers);
        return IntStream.range(0, numbers.constant().elements())
                .mapToObj(numbers::real)
                .toList();
    }

    private static void requireLikeData(NodeContext context, String name, OnnxTensor numbers) {
        ElementType data = context.element(0);
        context.require(
                numbers.type() == data && (data == ElementType.FLOAT || data == ElementType.DOUBLE),
                "`" + name + "` holds " + numbers.type().text() + ", its data is " + data.text(),
                "both float, or both double");
    }

    /** Numbers in single precision. */
    static float[] floats(List<Double> numbers) {
        float[] floats = new float[numbers.size()];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = numbers.get(i).floatValue();
        }
        return floats;
    }

    private Forest forest(String prefix) {
        List<Integer> roots = place();
        List<Double> values = reals(context, "nodes_values");
        fits("nodes_values", values.size());
        List<Long> features = wholes("nodes_featureids");
        List<Long> yes = wholes("nodes_truenodeids");
        List<Long> no = wholes("nodes_falsenodeids");
        List<Long> missing = context.wholes("nodes_missing_value_tracks_true")
                .filter(list -> !list.isEmpty())
                .orElseGet(() -> Collections.nCopies(trees.size(), 0L));
        fits("nodes_missing_value_tracks_true", missing.size());
        List<Split> splits = new ArrayList<>();
        for (int i = 0; i < trees.size(); i++) {
            if (!isLeaf(i)) {
                splits.add(new Split(
                        small(features.get(i), "feature"),
                        MODES.get(modes.get(i)),
                        List.of(values.get(i)),
                        missing.get(i) != 0,
                        child(i, yes.get(i)),
                        child(i, no.get(i))));
            }
        }
        return new Forest(splits, roots, leaves(prefix));
    }

    private boolean isLeaf(int node) {
        return modes.get(node).equals(LEAF);
    }

    /** Gives every node its place; returns the roots, the first node of each tree. */
    private List<Integer> place() {
        Map<Long, Integer> roots = new HashMap<>();
        List<Integer> inOrder = new ArrayList<>();
        int splits = 0;
        int leaves = 0;
        for (int i = 0; i < trees.size(); i++) {
            context.require(
                    isLeaf(i) || MODES.containsKey(modes.get(i)),
                    "a node has the mode `" + modes.get(i) + "`",
                    "LEAF or a BRANCH of six comparisons");
            int place = isLeaf(i) ? -1 - leaves++ : splits++;
            Integer other = places.putIfAbsent(new Id(trees.get(i), ids.get(i)), place);
            context.require(
                    other == null,
                    "node " + ids.get(i) + " of tree " + trees.get(i) + " is listed twice",
                    "every node once");
            if (roots.putIfAbsent(trees.get(i), place) == null) {
                inOrder.add(place);
            }
        }
        return inOrder;
    }

    private int child(int node, long child) {
        Integer place = places.get(new Id(trees.get(node), child));
        if (place == null) {
            throw context.failure(
                    "node " + ids.get(node) + " of tree " + trees.get(node) + " has a child " + child
                            + " that is not listed",
                    "two children in the same tree");
        }
        return place;
    }

    private List<List<Vote>> leaves(String prefix) {
        List<Long> tree = context.requiredWholes(prefix + "_treeids");
        List<Long> node = context.requiredWholes(prefix + "_nodeids");
        List<Long> target = context.requiredWholes(prefix + "_ids");
        List<Double> weight = reals(context, prefix + "_weights");
        context.require(
                node.size() == tree.size() && target.size() == tree.size() && weight.size() == tree.size(),
                "its lists of votes have " + tree.size() + ", " + node.size() + ", " + target.size() + " and "
                        + weight.size() + " entries",
                "one entry for each vote in all of them");
        context.require(
                tree.size() <= Forest.MOST, "its leaves have " + tree.size() + " votes", "at most " + Forest.MOST);
        int count = (int) modes.stream().filter(LEAF::equals).count();
        List<List<Vote>> leaves = new ArrayList<>();
        IntStream.range(0, count).forEach(i -> leaves.add(new ArrayList<>(1)));
        for (int i = 0; i < tree.size(); i++) {
            Integer place = places.get(new Id(tree.get(i), node.get(i)));
            if (place == null) {
                throw context.failure(
                        "a vote names node " + node.get(i) + " of tree " + tree.get(i) + ", which is not listed",
                        "a leaf of a tree");
            }
            if (place < 0) {
                leaves.get(-1 - place)
                        .add(new Vote(
                                small(target.get(i), "target"), weight.get(i).floatValue()));
            }
        }
        return leaves;
    }

    private int small(long value, String what) {
        context.require(value >= 0 && value <= Forest.MOST, "a " + what + " is " + value, "0 to " + Forest.MOST);
        return (int) value;
    }

    /** Reads the tensors of TreeEnsemble, whose splits and leaves are numbered separately. */
    record Numbered(NodeContext context) {
        private static final int MEMBER = 6;

        Forest read() {
            List<Long> features = wholes("nodes_featureids");
            int count = features.size();
            context.require(count <= Forest.MOST, "it has " + count + " splits", "at most " + Forest.MOST);
            OnnxTensor modes = tensor("nodes_modes", count);
            OnnxTensor values = tensor("nodes_splits", count);
            OnnxTensor weights = tensor("leaf_weights", wholes("leaf_targetids").size());
            requireLikeData(context, "nodes_splits", values);
            requireLikeData(context, "leaf_weights", weights);
            context.require(
                    modes.type() == ElementType.UINT8,
                    "its modes are " + modes.type().text(),
                    "uint8");
            List<Long> missing = optional("nodes_missing_value_tracks_true", count);
            Sets sets = Sets.of(context);
            List<Split> splits = new ArrayList<>();
            int leaves = weights.constant().elements();
            for (int i = 0; i < count; i++) {
                long mode = modes.constant().integer(i);
                context.require(mode <= MEMBER, "a mode is " + mode, "0 to " + MEMBER);
                splits.add(new Split(
                        small(features.get(i), Forest.MOST, "feature"),
                        new Mode[] {Mode.LEQ, Mode.LT, Mode.GTE, Mode.GT, Mode.EQ, Mode.NEQ, Mode.MEMBER}[(int) mode],
                        mode == MEMBER ? sets.next() : List.of(values.real(i)),
                        missing.get(i) != 0,
                        child("true", i, count, leaves),
                        child("false", i, count, leaves)));
            }
            return new Forest(splits, roots(splits), leaves(weights));
        }

        private List<Long> wholes(String name) {
            return context.requiredWholes(name);
        }

        private List<Long> optional(String name, int count) {
            List<Long> list = context.wholes(name)
                    .filter(given -> !given.isEmpty())
                    .orElseGet(() -> Collections.nCopies(count, 0L));
            context.require(list.size() == count, "`" + name + "` has " + list.size() + " entries", count + " entries");
            return list;
        }

        private OnnxTensor tensor(String name, int count) {
            OnnxTensor tensor = context.tensor(name).orElseThrow(() -> context.missing(name));
            context.require(
                    tensor.constant().elements() == count,
                    "`" + name + "` has " + tensor.constant().elements() + " elements",
                    count + " elements");
            return tensor;
        }

        private int small(long value, int end, String what) {
            context.require(value >= 0 && value < end, "a " + what + " is " + value, "0 to " + (end - 1));
            return (int) value;
        }

        private int child(String branch, int node, int splits, int leaves) {
            List<Long> children = optional("nodes_" + branch + "nodeids", splits);
            List<Long> areLeaves = optional("nodes_" + branch + "leafs", splits);
            return areLeaves.get(node) != 0
                    ? -1 - small(children.get(node), leaves, "leaf")
                    : small(children.get(node), splits, "child");
        }

        /** A node whose branches name the same leaf is a tree of one leaf. */
        private List<Integer> roots(List<Split> splits) {
            return wholes("tree_roots").stream()
                    .map(root -> small(root, splits.size(), "root"))
                    .toList();
        }

        private List<List<Vote>> leaves(OnnxTensor weights) {
            List<Long> targets = wholes("leaf_targetids");
            return IntStream.range(0, targets.size())
                    .mapToObj(i -> List.of(new Vote(
                            small(targets.get(i), Forest.MOST, "target"),
                            weights.constant().real(i))))
                    .toList();
        }
    }

    /** The sets of values of membership tests, each ended by NaN, in the order of the splits. */
    private static final class Sets {
        private final NodeContext context;
        private final List<Double> values;
        private int at;

        private Sets(NodeContext context, List<Double> values) {
            this.context = context;
            this.values = values;
        }

        static Sets of(NodeContext context) {
            List<Double> values = context.tensor("membership_values")
                    .map(tensor -> {
                        requireLikeData(context, "membership_values", tensor);
                        int count = tensor.constant().elements();
                        context.require(
                                count <= Forest.MOST,
                                "its membership_values are " + count + " numbers",
                                "at most " + Forest.MOST);
                        return IntStream.range(0, count).mapToObj(tensor::real).toList();
                    })
                    .orElse(List.of());
            return new Sets(context, values);
        }

        List<Double> next() {
            int begin = at;
            while (at < values.size() && !values.get(at).isNaN()) {
                at++;
            }
            context.require(
                    at < values.size(), "a set of values has no end", "a NaN after each set in membership_values");
            return values.subList(begin, at++);
        }
    }
}
