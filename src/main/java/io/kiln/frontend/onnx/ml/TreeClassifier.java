// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.ml.Forest.Vote;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.TreeEnsemble;
import io.kiln.ir.op.layer.TreeEnsemble.Aggregate;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.type.Shape;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * Classification by an ensemble of decision trees, with ONNX Runtime's rules: of more than two classes the first one with the largest score
 * wins among those that got a vote; of two classes, votes are usually for one only, whose score decides.
 */
final class TreeClassifier {
    private final NodeContext node;
    private final Expressions e;
    private final ClassLabels labels;
    private final PostTransform transform;
    private final List<Double> base;
    private final boolean isAllPositive;
    private final Arg data;
    private final Forest forest;

    private TreeClassifier(NodeContext node) {
        this.node = node;
        this.e = new Expressions(node);
        this.labels = ClassLabels.of(node, "classlabels_int64s", "classlabels_strings");
        this.transform = PostTransform.of(node);
        this.base = TreeLists.reals(node, "base_values");
        this.data = TreeImporters.rows(node);
        this.forest = TreeLists.read(node, "class").checked(node, e.shape(data).dim(1), labels.size());
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
        return base.isEmpty() ? scores : e.add(scores, e.reals(TreeLists.floats(base), Shape.of(base.size())));
    }

    private void several() {
        int classes = labels.size();
        node.require(
                base.isEmpty() || base.size() == classes,
                "it has " + base.size() + " base values for " + classes + " classes",
                "none, or one for each");
        Arg scores = plusBase(scores(classes));
        Optional<Arg> hasVote = base.isEmpty() ? TreeImporters.hasVote(node, data, forest, classes) : Optional.empty();
        Arg compared = hasVote.map(voted -> e.where(voted, order(scores), e.number(Integer.MIN_VALUE, DType.INT32)))
                .orElse(scores);
        labels.finish(node, node.emit(new ArgReduce(true, 1), compared), transform.of(node, scores));
    }

    /** Integers of the same order, 0 for both zeros, below which there is a number for classes without a vote. */
    private Arg order(Arg scores) {
        Arg bits = e.reinterpret(e.add(scores, 0), DType.INT32);
        Arg isNegative = e.binary(Binary.Kind.LESS, bits, e.number(0, DType.INT32));
        Arg turned = e.subtract(e.number(Integer.MIN_VALUE, DType.INT32), bits);
        return e.where(isNegative, turned, bits);
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
        node.require(base.size() <= 1, "it has " + base.size() + " base values for votes for one class", "at most one");
        Arg score = plusBase(scores(1));
        if (transform == PostTransform.PROBIT) {
            throw node.failure("it has PROBIT of one score for two classes", "another post_transform");
        }
        boolean isLogistic = transform == PostTransform.LOGISTIC;
        Arg other = isLogistic || !isAllPositive
                ? e.unary(Unary.Kind.NEGATIVE, score)
                : e.subtract(e.number(1, DType.FLOAT32), score);
        Arg both = e.concatenate(List.of(other, score), 1);
        labels.finish(node, isAbove(score, isAllPositive ? 0.5 : 0), isLogistic ? transform.of(node, both) : both);
    }

    private Arg isAbove(Arg score, double limit) {
        Arg isAbove = e.binary(Binary.Kind.GREATER, score, e.number(limit, DType.FLOAT32));
        return e.reshape(e.cast(isAbove, DType.INT32), List.of(e.shape(score).dim(0)));
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
        Arg isSecond = isAbove(e.slice(scores, 1, 1, 2), isSecondOnly && isAllPositive ? 0.5 : 0);
        labels.finish(node, isSecond, transform.of(node, scores));
    }
}
