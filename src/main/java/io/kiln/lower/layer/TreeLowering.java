// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.arith.FloatKeys;
import io.kiln.ir.op.layer.TreeEnsemble;
import io.kiln.lower.ElementStyle;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Lowers an ensemble of trees: the features of a row become integers of the same order, then each tree is walked, as nested conditions or
 * in tables, and its leaf votes.
 */
final class TreeLowering {
    /** Conditions and leaves up to which trees are code. */
    private static final int MOST_CODE = 1 << 14;

    /** The same where size counts: fewer than the loops over tables take. */
    private static final int MOST_SMALL_CODE = 12;

    private static final int MOST_NESTED = 48;

    private static final Intrinsic MISSING_ABOVE =
            Intrinsic.inFile("portable/single/kiln_float_key_above", List.of(DType.FLOAT32), DType.INT32);

    private static final Intrinsic MISSING_BELOW =
            Intrinsic.inFile("portable/single/kiln_float_key", List.of(DType.FLOAT32), DType.INT32);

    private static final Intrinsic UNKNOWN_ZERO =
            Intrinsic.inFile("portable/kiln_unknown_zero", List.of(), DType.INT32);

    private final TreeEnsemble op;
    private final TreeTables trees;
    private final Tables tables;
    private final Buffer data;
    private final Buffer output;
    private final Optional<Buffer> keys;
    private final int features;
    private final boolean isCode;
    private final boolean hasFpu;

    private TreeLowering(FusedOperator op, OperatorBuffers buffers, Tables tables, ElementStyle style) {
        this.op = (TreeEnsemble) op.root().op();
        this.trees = TreeTables.of(op.root());
        this.tables = tables;
        this.data = buffers.argument(0);
        this.output = buffers.output();
        this.features = op.rootTypes().get(0).shape().dim(1);
        this.hasFpu = style.hasFpu();
        this.isCode = isCode(style);
        this.keys = isCode && isDirect()
                ? Optional.empty()
                : Optional.of(buffers.scratch(DType.INT32, Math.max(1, trees.columns().length)));
    }

    static LoweredOperator lower(FusedOperator op, Rows rows, ElementStyle style) {
        OperatorBuffers buffers = new OperatorBuffers(op);
        TreeLowering lowering = new TreeLowering(op, buffers, buffers.tables(), style);
        BlockBuilder body = new BlockBuilder();
        body.loop("row", op.type().shape().dim(0), (block, row) -> {
            Expr first = block.let("first", mul(row, lowering.features));
            lowering.keys.ifPresent(keys -> lowering.keys(block, keys, first));
            Walk walk = lowering.isCode ? lowering.new Code(first) : lowering.new Loops(lowering.keys.orElseThrow());
            lowering.votes(block, block.let("result", mul(row, lowering.op.targets())), walk);
        });
        String how = lowering.isCode ? "code" : "tables";
        String schedule = "trees(" + how + (lowering.keys.isEmpty() ? ",direct" : "") + ")";
        return Nests.operator(buffers, rows, Nests.allRows(op), body.build(), schedule);
    }

    private boolean isCode(ElementStyle style) {
        int[] sizes = trees.sizes();
        int[] depths = trees.depths();
        long size = IntStream.of(trees.roots())
                .mapToLong(root -> root < 0 ? 1 : sizes[root])
                .sum();
        boolean isFlat = IntStream.of(trees.roots()).allMatch(root -> root < 0 || depths[root] <= MOST_NESTED);
        return isFlat && size <= (style.isSmall() ? MOST_SMALL_CODE : MOST_CODE);
    }

    /** Whether nodes compare the data itself: keys of all columns would take longer, as few of them are compared. */
    private boolean isDirect() {
        int[] depths = trees.depths();
        long compared = IntStream.of(trees.roots())
                .mapToLong(root -> root < 0 ? 0 : depths[root])
                .sum();
        boolean areFloats =
                IntStream.of(trees.thresholds()).noneMatch(threshold -> Float.isNaN(FloatKeys.value(threshold)));
        return areFloats && compared <= (hasFpu ? 6L : 1L) * trees.columns().length;
    }

    /** Writes the keys of a row's columns. */
    private void keys(BlockBuilder block, Buffer keys, Expr first) {
        int[] columns = trees.columns();
        int above = (int) IntStream.of(columns).filter(c -> c < features).count();
        keys(block, keys, first, new Range(0, above, "", MISSING_ABOVE));
        keys(block, keys, first, new Range(above, columns.length, "_below", MISSING_BELOW));
    }

    /** Columns whose keys a function gives. */
    private record Range(int begin, int end, String suffix, Intrinsic key) {}

    private void keys(BlockBuilder block, Buffer keys, Expr first, Range range) {
        int begin = range.begin;
        int end = range.end;
        String suffix = range.suffix;
        if (begin == end) {
            return;
        }
        int[] places = IntStream.range(begin, end)
                .map(i -> trees.columns()[i] % features)
                .toArray();
        boolean areAdjacent = places[places.length - 1] - places[0] == places.length - 1;
        Expr from = add(first, areAdjacent ? places[0] : 0);
        Buffer table = areAdjacent ? data : integers("columns" + suffix, places);
        block.loop("k" + suffix, places.length, (inner, i) -> {
            Expr place = areAdjacent ? add(from, i) : add(from, load(table, i));
            inner.store(keys, add(i, begin), new Expr.Call(range.key, List.of(load(data, place))));
        });
    }

    /** A table of integers in the narrowest type. */
    private Buffer integers(String name, int[] values) {
        int[] all = values.length == 0 ? new int[1] : values;
        int least = IntStream.of(all).min().orElse(0);
        int most = IntStream.of(all).max().orElse(0);
        DType dtype = List.of(DType.UINT8, DType.INT8, DType.INT16).stream()
                .filter(type -> least >= type.min() && most <= type.max())
                .findFirst()
                .orElse(DType.INT32);
        return tables.add(name, dtype, all);
    }

    private Buffer weights(String name, float[] weights) {
        if (!trees.vote().isInteger()) {
            return tables.add(name, weights.length == 0 ? new float[1] : weights);
        }
        int[] integers = new int[Math.max(1, weights.length)];
        Arrays.setAll(integers, i -> weights.length == 0 ? 0 : (int) weights[i]);
        return tables.add(name, trees.vote(), integers);
    }

    private Expr weight(Buffer weights, Expr place) {
        return Exprs.cast(number(0).dtype(), load(weights, place));
    }

    /** A weight or a total: a float, or an int32. */
    private Expr number(float value) {
        return trees.vote().isInteger() ? imm((int) value) : imm(value);
    }

    private Buffer thresholds() {
        return tables.add("threshold", DType.INT32, trees.nodes() == 0 ? new int[1] : trees.thresholds());
    }

    /** What the trees vote, one after another. */
    private interface Walk {
        void emit(BlockBuilder block, Total total);
    }

    /** Where the votes for a target are aggregated. */
    private interface Total {
        void vote(BlockBuilder block, Expr target, Expr weight);
    }

    private void votes(BlockBuilder block, Expr result, Walk walk) {
        // Beyond all weights: infinity, of integers the limits of int32.
        float initial = switch (op.aggregate()) {
            case SUM -> 0;
            case MIN -> Float.POSITIVE_INFINITY;
            case MAX -> Float.NEGATIVE_INFINITY;
        };
        if (op.targets() == 1) {
            Expr.Var total = block.mutable("total", number(initial));
            walk.emit(block, (inner, target, weight) -> inner.assign(total, aggregated(inner, total, weight)));
            block.store(output, result, voted(total, initial));
            return;
        }
        block.loop("t", op.targets(), (inner, t) -> inner.store(output, add(result, t), number(initial)));
        walk.emit(block, (inner, target, weight) -> {
            Expr place = inner.let("place", add(result, target));
            inner.store(output, place, aggregated(inner, load(output, place), weight));
        });
        if (initial != 0) {
            block.loop("u", op.targets(), (inner, t) -> {
                Expr place = inner.let("at", add(result, t));
                inner.store(output, place, voted(load(output, place), initial));
            });
        }
    }

    private Expr aggregated(BlockBuilder block, Expr total, Expr weight) {
        if (op.aggregate() == TreeEnsemble.Aggregate.SUM) {
            return add(total, weight);
        }
        Expr vote = block.let("weight", weight);
        boolean isLeast = op.aggregate() == TreeEnsemble.Aggregate.MIN;
        return Exprs.select(isLeast ? Exprs.lt(vote, total) : Exprs.gt(vote, total), vote, total);
    }

    /** The total, 0 if there was no vote: weights are finite. */
    private Expr voted(Expr total, float initial) {
        return initial == 0 ? total : Exprs.select(Exprs.equal(total, number(initial)), number(0), total);
    }

    /** The votes of a leaf, from the tables. */
    private final class Votes {
        private final Buffer weights = weights("weights", trees.weights());
        private final int each = trees.votesOfAll();
        private final boolean areInOrder = trees.areTargetsInOrder();
        private final Buffer targets = areInOrder ? weights : integers("targets", trees.targets());
        private final Buffer first = each >= 0 ? weights : integers("first_votes", trees.firstVotes());

        void emit(BlockBuilder block, Expr leaf, Total total) {
            Expr begin = block.let("begin", each >= 0 ? mul(leaf, each) : load(first, leaf));
            Expr end = each >= 0 ? imm(each) : sub(load(first, add(leaf, 1)), begin);
            block.loop("v", imm(0), block.let("end", end), (inner, v) -> {
                Expr vote = inner.let("vote", add(begin, v));
                total.vote(inner, target(vote, v), weight(weights, vote));
            });
        }

        /** The target of a vote, the place of which in its leaf is given, too. */
        private Expr target(Expr vote, Expr v) {
            return op.targets() == 1 ? imm(0) : areInOrder ? v : load(targets, vote);
        }
    }

    /** Each tree is a loop over tables, which goes from node to node. */
    private final class Loops implements Walk {
        private final Buffer keys;

        Loops(Buffer keys) {
            this.keys = keys;
        }

        @Override
        public void emit(BlockBuilder block, Total total) {
            Buffer columns = integers("column", trees.column());
            Buffer thresholds =
                    tables.add("threshold", DType.INT32, trees.nodes() == 0 ? new int[1] : trees.thresholds());
            Buffer children = integers("children", trees.children());
            Buffer roots = integers("roots", trees.roots());
            Votes votes = new Votes();
            block.loop("tree", trees.roots().length, (inner, tree) -> {
                Expr.Var node = inner.mutable("node", load(roots, tree));
                BlockBuilder step = new BlockBuilder();
                Expr isElse = Exprs.gt(load(keys, load(columns, node)), load(thresholds, node));
                step.assign(node, load(children, add(mul(node, 2), Exprs.select(isElse, imm(1), imm(0)))));
                inner.add(new Stmt.While(Exprs.ge(node, imm(0)), step.build()));
                votes.emit(inner, inner.let("leaf", sub(imm(-1), node)), total);
            });
        }
    }

    /**
     * Each tree is nested conditions, which select a leaf: of a tree all of whose leaves vote once for one target its weight, or the place of that
     * in a table. If keys are compared, limits come from a table, too; a compiler does not know where both are read, since each number would
     * take more code than its place.
     */
    private final class Code implements Walk {
        private final Expr first;
        private final int[] targets = new int[trees.nodes()];
        private final List<Map<Float, Integer>> places = new ArrayList<>();
        private final Buffer weights;
        private final Optional<Votes> votes;

        /**
         * A tree.
         *
         * @param leaf becomes the leaf
         * @param places where the weights are, unless the leaf becomes one, or leaves have several votes
         * @param limits the thresholds from the root on, unless data is compared
         */
        private record Tree(int root, Expr.Var leaf, Map<Float, Integer> places, Optional<Buffer> limits) {}

        Code(Expr first) {
            this.first = first;
            for (int node = trees.nodes() - 1; node >= 0; node--) {
                int then = target(trees.then(node));
                targets[node] = then == target(trees.otherwise(node)) ? then : -1;
            }
            for (int root : trees.roots()) {
                Map<Float, Integer> own = new LinkedHashMap<>();
                if (target(root) >= 0 && keys.isPresent()) {
                    place(root, own, new HashSet<>());
                }
                places.add(own);
            }
            boolean areSingle = IntStream.of(trees.roots()).allMatch(root -> target(root) >= 0);
            List<Float> all =
                    places.stream().flatMap(own -> own.keySet().stream()).toList();
            float[] single = new float[all.size()];
            for (int i = 0; i < single.length; i++) {
                single[i] = all.get(i);
            }
            weights = single.length == 0 ? data : weights("leaf_weights", single);
            votes = areSingle ? Optional.empty() : Optional.of(new Votes());
        }

        /** The target for which all leaves below a child vote once; negative if there is none. */
        private int target(int child) {
            if (child >= 0) {
                return targets[child];
            }
            return trees.votes(-1 - child) == 1 ? trees.targets()[trees.firstVotes()[-1 - child]] : -1;
        }

        private void place(int child, Map<Float, Integer> own, Set<Integer> seen) {
            if (child < 0) {
                own.putIfAbsent(trees.weights()[trees.firstVotes()[-1 - child]], own.size());
            } else if (seen.add(child)) {
                place(trees.then(child), own, seen);
                place(trees.otherwise(child), own, seen);
            }
        }

        @Override
        public void emit(BlockBuilder block, Total total) {
            Optional<Expr> zero = keys.map(any -> block.let("zero", new Expr.Call(UNKNOWN_ZERO, List.of())));
            Optional<Buffer> thresholds = zero.map(any -> thresholds());
            Optional<Buffer> all =
                    thresholds.filter(any -> hasFpu).map(table -> block.view("all_limits", table, zero.orElseThrow()));
            int before = 0;
            for (int i = 0; i < places.size(); i++) {
                int root = trees.roots()[i];
                String number = String.valueOf(i);
                boolean isSingle = target(root) >= 0;
                Expr.Var leaf = isSingle && keys.isEmpty()
                        ? block.mutable("weight" + number, number(0))
                        : block.mutable("leaf" + number, imm(0, DType.INT32));
                Optional<Buffer> limits = thresholds
                        .filter(any -> root >= 0)
                        .map(table -> block.view(
                                "limits" + number,
                                all.orElse(table),
                                all.isPresent() ? imm(root) : add(zero.orElseThrow(), root)));
                subtree(block, root, new Tree(root, leaf, places.get(i), limits));
                BlockBuilder counted = new BlockBuilder();
                if (isSingle) {
                    Expr weight = keys.isEmpty() ? leaf : weight(weights, add(leaf, before));
                    total.vote(counted, imm(target(root)), weight);
                } else {
                    votes.orElseThrow().emit(counted, leaf, total);
                }
                block.add(counted.build());
                before += places.get(i).size();
            }
        }

        private void subtree(BlockBuilder block, int child, Tree tree) {
            if (child < 0) {
                block.assign(tree.leaf, leaf(-1 - child, tree));
                return;
            }
            int yes = trees.isEquality(child) ? trees.equality(child).yes() : trees.then(child);
            int last = child;
            Expr condition = condition(child, tree);
            while (trees.isEquality(child) && isSame(trees.otherwise(last), yes)) {
                last = trees.otherwise(last);
                condition = Exprs.or(condition, condition(last, tree));
            }
            int no = trees.otherwise(last);
            boolean isInverted = isInverted(child);
            block.ifThenElse(
                    condition,
                    then -> subtree(then, isInverted ? no : yes, tree),
                    otherwise -> subtree(otherwise, isInverted ? yes : no, tree));
        }

        /** A leaf, the place of its weight, or its weight. */
        private Expr leaf(int leaf, Tree tree) {
            if (target(tree.root) < 0) {
                return imm(leaf);
            }
            float weight = trees.weights()[trees.firstVotes()[leaf]];
            return keys.isEmpty() ? number(weight) : imm(tree.places.get(weight));
        }

        private boolean isSame(int next, int yes) {
            return next >= 0 && trees.isEquality(next) && trees.equality(next).yes() == yes;
        }

        /** Whether the test of a node is true; of floats that may be missing, whether it is false. */
        private Expr condition(int node, Tree tree) {
            int threshold = trees.thresholds()[node];
            boolean isEquality = trees.isEquality(node);
            if (keys.isEmpty() && hasFpu) {
                return isEquality ? isAmong(node) : comparison(node);
            }
            Expr key = key(node);
            Expr limit = tree.limits
                    .<Expr>map(limits -> load(limits, imm(node - tree.root)))
                    .orElse(imm(threshold));
            if (!isEquality) {
                return Exprs.le(key, limit);
            }
            int low = trees.equality(node).low();
            return low == threshold
                    ? Exprs.equal(key, limit)
                    : Exprs.and(Exprs.ge(key, imm(low)), Exprs.le(key, limit));
        }

        private Expr isAmong(int node) {
            Expr value = load(data, add(first, feature(node)));
            Expr low = imm(FloatKeys.value(trees.equality(node).low()));
            Expr high = imm(FloatKeys.value(trees.thresholds()[node]));
            boolean isOne = FloatKeys.value(trees.equality(node).low()) == FloatKeys.value(trees.thresholds()[node]);
            return isOne ? Exprs.equal(value, high) : Exprs.and(Exprs.ge(value, low), Exprs.le(value, high));
        }

        private Expr comparison(int node) {
            Expr value = load(data, add(first, feature(node)));
            Expr limit = imm(FloatKeys.value(trees.thresholds()[node]));
            return isInverted(node) ? Exprs.gt(value, limit) : Exprs.le(value, limit);
        }

        private boolean isInverted(int node) {
            return keys.isEmpty() && hasFpu && isMissingBelow(node) && !trees.isEquality(node);
        }

        private Expr key(int node) {
            if (keys.isPresent()) {
                return load(keys.orElseThrow(), imm(trees.column()[node]));
            }
            Expr value = load(data, add(first, feature(node)));
            return new Expr.Call(isMissingBelow(node) ? MISSING_BELOW : MISSING_ABOVE, List.of(value));
        }

        private boolean isMissingBelow(int node) {
            return trees.columns()[trees.column()[node]] >= features;
        }

        private int feature(int node) {
            return trees.columns()[trees.column()[node]] % features;
        }
    }
}
