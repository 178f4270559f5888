// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.learning;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.ml.Forest.ForestTables;
import io.kiln.frontend.onnx.ml.Forest.Vote;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.op.layer.TreeEnsemble;
import io.kiln.ir.op.layer.TreeEnsemble.Aggregate;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.type.Shape;
import java.util.Collection;
import java.util.List;
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
        boolean isDouble = node.node().operator().equals("TreeEnsemble") && node.element(0) == ElementType.DOUBLE;
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
        Arg sums = node.add(scores, node.reals(TreeLists.floats(base), Shape.of(targets)));
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
            return base.isEmpty()
                    ? scores
                    : node.add(scores, node.reals(TreeLists.floats(base), Shape.of(base.size())));
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
}
