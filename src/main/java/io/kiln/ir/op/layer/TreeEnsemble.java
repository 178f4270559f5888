// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.arith.FloatKeys;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.ConstantElements;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.stream.IntStream;

/**
 * An ensemble of decision trees (TreeEnsemble of ONNX's operators for machine learning): for each row (vector of features) one leaf of
 * every tree is selected, and the votes of these leaves are aggregated for each target, in the order of the trees: float votes in single
 * precision, quantized ones (int8, int16) in int32.
 *
 * <p>Arguments: data (rows, features), float32; then constants: nodes (nodes, 4) int32 of feature, threshold, then and else; roots
 * (trees), int32; first votes (leaves + 1), int32, of each leaf and the end; targets (votes), int32; weights (votes).
 *
 * <p>Every node tests {@code key(x[feature]) <= threshold} with {@link FloatKeys#key keys}, which decide as the floats do, bit for bit. The
 * key of NaN is above all thresholds; a feature that is stated as {@code features + f} is feature f with a NaN below all of them, so that
 * a node says where a missing value goes. A child, like a root, is a node after its parent, or {@code -1 - leaf}.
 *
 * @param targets number of targets
 * @param aggregate how votes for a target become one number
 */
public record TreeEnsemble(int targets, Aggregate aggregate) implements Op {
    /** How votes are aggregated; without a vote the result is 0. */
    public enum Aggregate {
        /** Their sum, from 0. */
        SUM,
        /** The smallest. */
        MIN,
        /** The largest. */
        MAX
    }

    /** Numbers of a node. */
    public static final int FIELDS = 4;

    /** Most nodes, leaves, votes and targets. */
    public static final int MOST = 1 << 20;

    /** Most trees whose votes are quantized: sums of int16 then fit int32. */
    public static final int MOST_QUANTIZED = 1 << 16;

    public static final Signature<TreeEnsemble> SIGNATURE = Signature.of(TreeEnsemble.class, "ml.tree_ensemble")
            .data("data", operand -> operand.rank(2).filled(), DType.FLOAT32)
            .constant("nodes", operand -> operand.rank(2), DType.INT32)
            .constant("roots", operand -> operand.rank(1).filled(), DType.INT32)
            .constant("first votes", operand -> operand.rank(1).filled(), DType.INT32)
            .constant("targets", operand -> operand.rank(1), DType.INT32)
            .constant("weights", operand -> operand.rank(1), DType.FLOAT32, DType.INT8, DType.INT16)
            .attributes(
                    Attribute.whole("n_targets", TreeEnsemble::targets, 1, MOST),
                    Attribute.name("aggregate", TreeEnsemble::aggregate, Aggregate.values()),
                    TreeEnsemble::new)
            .own()
            .traits()
            .rules(TreeEnsemble::rules)
            .result(TreeEnsemble::result);

    @Override
    public Card<TreeEnsemble> card() {
        return SIGNATURE.of(this);
    }

    private static TensorType result(TreeEnsemble op, List<TensorType> args) {
        Check.that(
                args.get(1).shape().dim(1) == FIELDS,
                "nodes must be (nodes, " + FIELDS + "), not "
                        + args.get(1).shape().text());
        for (TensorType table : args.subList(1, args.size())) {
            Check.that(table.shape().elements() <= (long) FIELDS * MOST, "a table has more than " + MOST + " entries");
        }
        Check.that(
                args.get(4).shape().equals(args.get(5).shape()),
                "there are " + args.get(4).shape().text() + " targets, but "
                        + args.get(5).shape().text() + " weights");
        Check.that(
                !args.get(5).dtype().isInteger() || args.get(2).shape().dim(0) <= MOST_QUANTIZED,
                "the sum of more than " + MOST_QUANTIZED + " quantized votes may be beyond int32");
        return new TensorType(
                Shape.of(args.get(0).shape().dim(0), op.targets),
                args.get(5).dtype().isInteger() ? DType.INT32 : DType.FLOAT32);
    }

    private void rules(Arguments args) {
        if (!args.areConstant(1)) {
            return;
        }
        ConstantElements nodes = args.constant(1).orElseThrow();
        ConstantElements first = args.constant(3).orElseThrow();
        int count = nodes.elements() / FIELDS;
        int leaves = first.elements() - 1;
        int features = args.data().shape().dim(1);
        boolean areNodes = IntStream.range(0, count)
                .allMatch(i -> isIn(nodes.integer(FIELDS * i), 0, 2L * features - 1)
                        && isIn(nodes.integer(FIELDS * i + 2), -leaves, count - 1)
                        && isIn(nodes.integer(FIELDS * i + 3), -leaves, count - 1)
                        && isLater(nodes.integer(FIELDS * i + 2), i)
                        && isLater(nodes.integer(FIELDS * i + 3), i));
        args.require(
                areNodes,
                "a node of " + name() + " is not valid",
                "a feature below twice their number, and children that are leaves or come after it");
        args.integers(2, "root", root -> isIn(root, -leaves, count - 1), "a node or a leaf");
        boolean areVotes = first.integer(0) == 0
                && first.integer(leaves) == args.constant(4).orElseThrow().elements()
                && IntStream.range(0, leaves).allMatch(i -> first.integer(i) <= first.integer(i + 1));
        args.require(
                areVotes, "the votes of " + name() + " are not in order", "first votes that ascend to their number");
        args.integers(4, "target", target -> isIn(target, 0, targets - 1L), "0 to " + (targets - 1));
        ConstantElements weights = args.constant(5).orElseThrow();
        args.require(
                args.type(5).dtype().isInteger()
                        || IntStream.range(0, weights.elements()).allMatch(i -> Float.isFinite(weights.real(i))),
                "a weight of " + name() + " is not valid",
                "finite numbers");
    }

    private static boolean isLater(long child, int node) {
        return child < 0 || child > node;
    }

    private static boolean isIn(long value, long least, long most) {
        return value >= least && value <= most;
    }
}
