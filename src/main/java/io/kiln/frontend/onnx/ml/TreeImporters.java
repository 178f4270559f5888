// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.learning;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.ml.ClassLabels.PostTransform;
import io.kiln.frontend.onnx.ml.Forest.ForestTables;
import io.kiln.frontend.onnx.ml.Forest.Mode;
import io.kiln.frontend.onnx.ml.Forest.Split;
import io.kiln.frontend.onnx.ml.Forest.Vote;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.model.OnnxTensor;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.op.layer.TreeEnsemble;
import io.kiln.ir.op.layer.TreeEnsemble.Aggregate;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** Regression and classification by ensembles of decision trees. */
final class TreeImporters {
    static final List<OnnxRegistration> ALL = List.of(
            learning("TreeEnsembleRegressor", TreeImporters::regressor),
            learning("TreeEnsembleClassifier", TreeClassifier::emit),
            learning("TreeEnsemble", TreeImporters::ensemble));

    /** ONNX Runtime's order of the numbers of transformations, which is not the standard's. */
    private static final List<PostTransform> BY_NUMBER = List.of(
            PostTransform.NONE,
            PostTransform.LOGISTIC,
            PostTransform.SOFTMAX,
            PostTransform.SOFTMAX_ZERO,
            PostTransform.PROBIT);

    private static final List<String> AGGREGATES = List.of("AVERAGE", "SUM", "MIN", "MAX");

    private TreeImporters() {}

    /** The data as rows of floats. */
    static Arg rows(NodeContext node) {
        Shape shape = node.shape(0);
        node.require(shape.rank() == 1 || shape.rank() == 2, "its data is " + shape.text(), "one or two dimensions");
        Arg data = node.cast(node.arg(0), DType.FLOAT32);
        return shape.rank() == 2 ? data : node.reshape(data, List.of(1, shape.dim(0)));
    }

    private static void regressor(NodeContext node) {
        int targets = targets(node);
        Forest forest = TreeLists.read(node, "target");
        finish(
                node,
                forest,
                targets,
                node.text("aggregate_function", "SUM"),
                TreeLists.reals(node, "base_values"),
                PostTransform.of(node));
    }

    private static int targets(NodeContext node) {
        long targets = node.whole("n_targets", 1);
        node.require(targets >= 1 && targets <= Forest.MOST, "n_targets is " + targets, "1 to " + Forest.MOST);
        return (int) targets;
    }

    private static void ensemble(NodeContext node) {
        long aggregate = node.whole("aggregate_function", 1);
        long transform = node.whole("post_transform", 0);
        node.require(aggregate >= 0 && aggregate < AGGREGATES.size(), "aggregate_function is " + aggregate, "0 to 3");
        node.require(transform >= 0 && transform < BY_NUMBER.size(), "post_transform is " + transform, "0 to 4");
        finish(
                node,
                new TreeLists.Numbered(node).read(),
                targets(node),
                AGGREGATES.get((int) aggregate),
                List.of(),
                BY_NUMBER.get((int) transform));
    }

    private static void finish(
            NodeContext node, Forest read, int targets, String function, List<Double> base, PostTransform transform) {
        node.require(
                AGGREGATES.contains(function),
                "its aggregate_function is `" + function + "`",
                String.join(", ", AGGREGATES));
        Arg data = rows(node);
        Forest forest = read.checked(node, node.shape(data).dim(1), targets);
        node.require(
                targets > 1 || forest.leaves().stream().noneMatch(List::isEmpty),
                "a leaf has no vote",
                "a weight for each leaf");
        boolean isAverage = function.equals("AVERAGE");
        Aggregate aggregate = isAverage ? Aggregate.SUM : Aggregate.valueOf(function);
        Arg scores = ForestTables.emit(node, data, forest, new TreeEnsemble(targets, aggregate));
        if (isAverage) {
            scores = node.divide(scores, node.real(forest.roots().size()));
        }
        scores = plusBase(node, data, forest, scores, base);
        boolean isTransformed = targets > 1 || transform == PostTransform.PROBIT;
        boolean isDouble = node.is("TreeEnsemble") && node.element(0) == ElementType.DOUBLE;
        node.finish(
                0,
                isTransformed ? transform.of(node, scores) : scores,
                isDouble ? ElementType.DOUBLE : ElementType.FLOAT);
    }

    /**
     * The scores and a number for each target. As in ONNX Runtime, a target without a vote stays 0, and numbers that are not as many as the
     * targets do not count.
     */
    private static Arg plusBase(NodeContext node, Arg data, Forest forest, Arg scores, List<Double> base) {
        int targets = node.shape(scores).dim(1);
        if (base.size() != targets) {
            return scores;
        }
        Arg sums = node.add(scores, node.reals(base, Shape.of(targets)));
        return hasVote(node, data, forest, targets)
                .map(hasVote -> node.where(hasVote, sums, node.real(0)))
                .orElse(sums);
    }

    /** For each row and target whether there is a vote; empty if there always is. */
    private static Optional<Arg> hasVote(NodeContext node, Arg data, Forest forest, int targets) {
        boolean[] always = forest.alwaysVoted(node, targets);
        if (IntStream.range(0, targets).allMatch(target -> always[target])) {
            return Optional.empty();
        }
        List<List<Vote>> ones = forest.leaves().stream()
                .map(leaf ->
                        leaf.stream().map(vote -> new Vote(vote.target(), 1)).toList())
                .toList();
        Forest marks = new Forest(forest.splits(), forest.roots(), ones);
        Arg most = ForestTables.emit(node, data, marks, new TreeEnsemble(targets, Aggregate.MAX));
        return Optional.of(node.greater(most, node.real(0)));
    }

    /**
     * Classification by an ensemble of decision trees, with ONNX Runtime's rules: of more than two classes the first one with the largest score
     * wins among those that got a vote; of two classes, votes are usually for one only, whose score decides.
     */
    private static final class TreeClassifier {
        private final NodeContext node;
        private final ClassLabels labels;
        private final PostTransform transform;
        private final List<Double> base;
        private final boolean isAllPositive;
        private final Arg data;
        private final Forest forest;

        private TreeClassifier(NodeContext node) {
            this.node = node;
            this.labels = ClassLabels.of(node, "classlabels_int64s", "classlabels_strings");
            this.transform = PostTransform.of(node);
            this.base = TreeLists.reals(node, "base_values");
            this.data = TreeImporters.rows(node);
            this.forest =
                    TreeLists.read(node, "class").checked(node, node.shape(data).dim(1), labels.size());
            this.isAllPositive = votes().stream().noneMatch(vote -> vote.weight() < 0);
        }

        static void emit(NodeContext node) {
            TreeClassifier classifier = new TreeClassifier(node);
            if (classifier.labels.size() > 2) {
                classifier.several();
            } else {
                classifier.two();
            }
        }

        private List<Vote> votes() {
            return forest.leaves().stream().flatMap(Collection::stream).toList();
        }

        private Arg scores(int targets) {
            return ForestTables.emit(node, data, forest, new TreeEnsemble(targets, Aggregate.SUM));
        }

        private Arg plusBase(Arg scores) {
            return base.isEmpty() ? scores : node.add(scores, node.reals(base, Shape.of(base.size())));
        }

        private void several() {
            int classes = labels.size();
            node.require(
                    base.isEmpty() || base.size() == classes,
                    "it has " + base.size() + " base values for " + classes + " classes",
                    "none, or one for each");
            Arg scores = plusBase(scores(classes));
            Optional<Arg> hasVote =
                    base.isEmpty() ? TreeImporters.hasVote(node, data, forest, classes) : Optional.empty();
            Arg compared = hasVote.map(
                            voted -> node.where(voted, order(scores), node.number(Integer.MIN_VALUE, DType.INT32)))
                    .orElse(scores);
            labels.finish(node, node.emit(new ArgReduce(true, 1), compared), transform.of(node, scores));
        }

        /** Integers of the same order, 0 for both zeros, below which there is a number for classes without a vote. */
        private Arg order(Arg scores) {
            Arg bits = node.reinterpret(node.add(scores, 0), DType.INT32);
            Arg isNegative = node.less(bits, node.number(0, DType.INT32));
            Arg turned = node.subtract(node.number(Integer.MIN_VALUE, DType.INT32), bits);
            return node.where(isNegative, turned, bits);
        }

        private void two() {
            List<Integer> voted = votes().stream().map(Vote::target).distinct().toList();
            if (voted.equals(List.of(0))) {
                ofOne();
            } else {
                ofBoth(voted.size() == 1);
            }
        }

        /** Votes for one of two classes, as all exporters write them. */
        private void ofOne() {
            node.require(
                    base.size() <= 1, "it has " + base.size() + " base values for votes for one class", "at most one");
            Arg score = plusBase(scores(1));
            if (transform == PostTransform.PROBIT) {
                throw node.failure("it has PROBIT of one score for two classes", "another post_transform");
            }
            boolean isLogistic = transform == PostTransform.LOGISTIC;
            Arg other = isLogistic || !isAllPositive ? node.negate(score) : node.subtract(node.real(1), score);
            Arg both = node.concatenate(List.of(other, score), 1);
            labels.finish(node, isAbove(score, isAllPositive ? 0.5 : 0), isLogistic ? transform.of(node, both) : both);
        }

        private Arg isAbove(Arg score, double limit) {
            Arg isAbove = node.greater(score, node.real(limit));
            return node.reshape(
                    node.cast(isAbove, DType.INT32), List.of(node.shape(score).dim(0)));
        }

        /** Votes for the second class: its score decides, even if that of the first is larger. */
        private void ofBoth(boolean isSecondOnly) {
            node.require(
                    base.isEmpty() && forest.alwaysVoted(node, 2)[1],
                    "it votes for the second of two classes, with base values or not for every row",
                    "votes for the first class only, as exporters write them");
            node.require(
                    isSecondOnly || labels.areIndices(),
                    "it votes for two classes whose labels are " + labels.values(),
                    "labels 0 and 1");
            Arg scores = scores(2);
            Arg isSecond = isAbove(node.slice(scores, 1, 1, 2), isSecondOnly && isAllPositive ? 0.5 : 0);
            labels.finish(node, isSecond, transform.of(node, scores));
        }
    }

    /** Reads the parallel lists of TreeEnsembleClassifier and TreeEnsembleRegressor. */
    static final class TreeLists {
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
                    size == trees.size(),
                    "`" + name + "` has " + size + " entries",
                    trees.size() + ", one for each node");
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
                                    small(target.get(i), "target"),
                                    weight.get(i).floatValue()));
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
                OnnxTensor weights =
                        tensor("leaf_weights", wholes("leaf_targetids").size());
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
                            new Mode[] {Mode.LEQ, Mode.LT, Mode.GTE, Mode.GT, Mode.EQ, Mode.NEQ, Mode.MEMBER}
                                    [(int) mode],
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
                context.require(
                        list.size() == count, "`" + name + "` has " + list.size() + " entries", count + " entries");
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
                            return IntStream.range(0, count)
                                    .mapToObj(tensor::real)
                                    .toList();
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
}
