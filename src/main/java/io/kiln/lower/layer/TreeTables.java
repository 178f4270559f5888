// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import io.kiln.base.DType;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.TreeEnsemble;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * The constants of a {@link TreeEnsemble}, with columns instead of features: a column is a feature that is compared, with its missing values
 * above or below all thresholds.
 */
final class TreeTables {
    private final int[] columns;
    private final int[] column;
    private final int[] thresholds;
    private final int[] children;
    private final int[] roots;
    private final int[] firstVotes;
    private final int[] targets;
    private final float[] weights;
    private final DType vote;

    private TreeTables(Binding binding) {
        int[] nodes = integers(binding.constant(1));
        int count = nodes.length / TreeEnsemble.FIELDS;
        columns = IntStream.range(0, count)
                .map(i -> nodes[TreeEnsemble.FIELDS * i])
                .distinct()
                .sorted()
                .toArray();
        column = IntStream.range(0, count)
                .map(i -> Arrays.binarySearch(columns, nodes[TreeEnsemble.FIELDS * i]))
                .toArray();
        thresholds = IntStream.range(0, count)
                .map(i -> nodes[TreeEnsemble.FIELDS * i + 1])
                .toArray();
        children = IntStream.range(0, 2 * count)
                .map(i -> nodes[TreeEnsemble.FIELDS * (i / 2) + 2 + i % 2])
                .toArray();
        roots = integers(binding.constant(2));
        firstVotes = integers(binding.constant(3));
        targets = integers(binding.constant(4));
        Constant votes = binding.constant(5);
        weights = new float[votes.elements()];
        vote = votes.type().dtype();
        for (int i = 0; i < weights.length; i++) {
            weights[i] = vote.isInteger() ? votes.integer(i) : votes.real(i);
        }
    }

    static TreeTables of(Binding binding) {
        return new TreeTables(binding);
    }

    /** The features of the columns, as nodes state them; those with missing values above come first; read-only. */
    int[] columns() {
        return columns;
    }

    /** The column of each node; read-only. */
    int[] column() {
        return column;
    }

    /** The threshold of each node; read-only. */
    int[] thresholds() {
        return thresholds;
    }

    /** Then and else of each node; read-only. */
    int[] children() {
        return children;
    }

    /** The root of each tree; read-only. */
    int[] roots() {
        return roots;
    }

    /** The first vote of each leaf, and the end; read-only. */
    int[] firstVotes() {
        return firstVotes;
    }

    /** The target of each vote; read-only. */
    int[] targets() {
        return targets;
    }

    /** The type of weights. */
    DType vote() {
        return vote;
    }

    /** The weight of each vote, of which quantized ones are exact, too; read-only. */
    float[] weights() {
        return weights;
    }

    private static int[] integers(Constant constant) {
        return IntStream.range(0, constant.elements())
                .map(i -> (int) constant.integer(i))
                .toArray();
    }

    int nodes() {
        return column.length;
    }

    int leaves() {
        return firstVotes.length - 1;
    }

    int then(int node) {
        return children[2 * node];
    }

    int otherwise(int node) {
        return children[2 * node + 1];
    }

    /** Number of votes of a leaf. */
    int votes(int leaf) {
        return firstVotes[leaf + 1] - firstVotes[leaf];
    }

    /** The number of votes that every leaf has; -1 if they differ. */
    int votesOfAll() {
        int first = leaves() == 0 ? 0 : votes(0);
        return IntStream.range(0, leaves()).allMatch(leaf -> votes(leaf) == first) ? first : -1;
    }

    /** Whether the first vote of every leaf is for target 0, the second for target 1, and so on. */
    boolean areTargetsInOrder() {
        return IntStream.range(0, leaves())
                .allMatch(leaf -> IntStream.range(firstVotes[leaf], firstVotes[leaf + 1])
                        .allMatch(vote -> targets[vote] == vote - firstVotes[leaf]));
    }

    /**
     * The test of a node and the next, if these are one test for equality: both leave to the same child.
     *
     * @param low the least key that is equal
     * @param high the greatest one
     */
    record Equality(int column, int low, int high, int yes, int no) {}

    /** Whether a node begins a test for equality. */
    boolean isEquality(int node) {
        int next = then(node);
        return next >= 0
                && column[next] == column[node]
                && then(next) == otherwise(node)
                && thresholds[next] < thresholds[node];
    }

    /** The test for equality that a node begins. */
    Equality equality(int node) {
        int next = then(node);
        return new Equality(column[node], thresholds[next] + 1, thresholds[node], otherwise(next), otherwise(node));
    }

    /** Tests and leaves of nested conditions for each node, at most {@link Integer#MAX_VALUE}. */
    int[] sizes() {
        return upward((yes, no) -> 1L + yes + no, 1);
    }

    /** The most nested conditions below each node. */
    int[] depths() {
        return upward((yes, no) -> 1L + Math.max(yes, no), 0);
    }

    private interface Sum {
        long of(long yes, long no);
    }

    private int[] upward(Sum sum, int leaf) {
        int[] values = new int[nodes()];
        for (int node = nodes() - 1; node >= 0; node--) {
            int yes = isEquality(node) ? equality(node).yes() : then(node);
            long value = sum.of(yes < 0 ? leaf : values[yes], otherwise(node) < 0 ? leaf : values[otherwise(node)]);
            values[node] = (int) Math.min(Integer.MAX_VALUE, value);
        }
        return values;
    }
}
