// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.onnx.ml.Forest.Split;
import io.kiln.frontend.onnx.ml.Forest.Vote;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.FloatKeys;
import io.kiln.ir.op.layer.TreeEnsemble;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.TreeSet;

/**
 * Makes the constants of a {@link TreeEnsemble}: every comparison becomes one or two of the form {@code key <= threshold}, which say where
 * NaN goes, too.
 */
final class ForestTables {
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
