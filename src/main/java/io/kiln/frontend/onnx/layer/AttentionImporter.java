// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * {@code Attention}: {@code softmax(Q * K^T * scale + mask) * V}, for each head, with ONNX's operator page as the formula. Keys and values may
 * be cached before those of this run, and be fewer than the heads of queries. Tensors of rank 3 have their heads one after the other in the
 * last dimension.
 */
final class AttentionImporter implements OnnxImporter {
    private static final int HEADS = 1;
    private static final int ROWS = 2;
    private static final int SIZE = 3;
    private static final List<Integer> HEADS_BEFORE_ROWS = List.of(0, 2, 1, 3);

    /** What ONNX Runtime adds to the scores of keys that a query does not see; a row of these, or less, is 0. */
    private static final double HIDDEN = -Float.MAX_VALUE;

    private static final int MOST_KEYS = 1 << 30;

    private static final int MASK = 3;
    private static final int PAST_KEY = 4;
    private static final int PAST_VALUE = 5;
    private static final int LENGTHS = 6;

    @Override
    public void emit(NodeContext node) {
        for (int i = 0; i < 3; i++) {
            node.requireFloats(i);
        }
        boolean isFlat = node.shape(0).rank() == 3;
        Arg query = heads(node, 0, "q_num_heads");
        Arg key = cached(node, PAST_KEY, heads(node, 1, "kv_num_heads"));
        Arg value = cached(node, PAST_VALUE, heads(node, 2, "kv_num_heads"));
        Shape q = node.shape(query);
        Shape k = node.shape(key);
        Shape v = node.shape(value);
        int groups = k.dim(HEADS);
        node.require(
                q.dim(0) == k.dim(0)
                        && q.dim(SIZE) == k.dim(SIZE)
                        && q.dim(HEADS) % groups == 0
                        && v.dims().subList(0, SIZE).equals(k.dims().subList(0, SIZE)),
                "its queries " + q.text() + ", keys " + k.text() + " and values " + v.text() + " do not fit each other",
                "one batch and size of heads, and a multiple of the keys' heads");
        float scale = node.real("scale", (float) (1 / Math.sqrt(q.dim(SIZE))));
        int perGroup = q.dim(HEADS) / groups * q.dim(ROWS);
        List<Integer> all = List.of(q.dim(0), q.dim(HEADS), q.dim(ROWS), k.dim(ROWS));
        Arg grouped = node.reshape(node.multiply(query, scale), List.of(q.dim(0), groups, perGroup, q.dim(SIZE)));
        Arg scores = node.reshape(product(node, grouped, key, true), all);
        Arg[] steps = {scores, capped(node, scores), null, null};
        Optional<Arg> given = node.has(MASK) ? Optional.of(given(node, new Shape(all))) : Optional.empty();
        Optional<Arg> seen = seen(node, new Shape(all));
        Optional<Arg> mask =
                seen.map(keys -> hidden(node, keys, given.orElse(node.real(0)))).or(() -> given);
        steps[2] = masked(node, steps[1], given, seen, mask);
        steps[3] = weights(node, steps[2], mask);
        Arg weights = node.reshape(steps[3], List.of(q.dim(0), groups, perGroup, k.dim(ROWS)));
        Arg result = node.reshape(
                product(node, weights, value, false), List.of(q.dim(0), q.dim(HEADS), q.dim(ROWS), v.dim(SIZE)));
        node.finish(isFlat ? flat(node, result) : result);
        node.finish(1, key);
        node.finish(2, value);
        if (node.hasOutput(3)) {
            long mode = node.whole("qk_matmul_output_mode", 0);
            node.require(mode >= 0 && mode < steps.length, "its qk_matmul_output_mode is " + mode, "0 to 3");
            node.finish(3, steps[(int) mode]);
        }
    }

    private static Arg product(NodeContext node, Arg lhs, Arg rhs, boolean isTransposed) {
        return node.emit(new TflBatchMatmul(false, isTransposed), lhs, rhs, Constant.scalar(0), Constant.scalar(0));
    }

    /** An input as batches, heads, rows and elements of a head. */
    private static Arg heads(NodeContext node, int input, String attribute) {
        Shape shape = node.shape(input);
        if (shape.rank() == 4) {
            return node.arg(input);
        }
        long heads = node.requiredWhole(attribute);
        node.require(
                shape.rank() == 3 && heads > 0 && shape.dim(2) % heads == 0,
                "its input " + input + " is " + shape.text() + " with " + heads + " heads (" + attribute + ")",
                "a tensor of rank 4, or one of rank 3 whose last dimension the heads divide");
        int size = (int) (shape.dim(2) / heads);
        return node.transpose(
                node.reshape(node.arg(input), List.of(shape.dim(0), shape.dim(1), (int) heads, size)),
                HEADS_BEFORE_ROWS);
    }

    private static Arg flat(Formulas e, Arg value) {
        Shape shape = e.shape(value);
        return e.reshape(
                e.transpose(value, HEADS_BEFORE_ROWS),
                List.of(shape.dim(0), shape.dim(ROWS), shape.dim(HEADS) * shape.dim(SIZE)));
    }

    private static Arg cached(NodeContext node, int past, Arg current) {
        return node.has(past) ? node.concatenate(List.of(node.arg(past), current), ROWS) : current;
    }

    private static Arg capped(NodeContext node, Arg scores) {
        float cap = node.real("softcap", 0);
        return cap > 0 ? node.multiply(node.unary(Unary.Kind.TANH, node.divide(scores, node.real(cap))), cap) : scores;
    }

    /** Rows of which every element is masked are 0, where the formula would divide 0 by 0. */
    private static Arg weights(NodeContext node, Arg scores, Optional<Arg> mask) {
        Arg weights = node.emit(new Softmax(1), scores);
        if (mask.isEmpty()) {
            return weights;
        }
        Arg largest = node.reduce(Reduce.Kind.MAX, mask.get(), List.of(SIZE));
        Arg isHidden = node.binary(Binary.Kind.LESS_EQUAL, largest, node.real(HIDDEN));
        boolean isNever = isHidden instanceof Constant known
                && IntStream.range(0, known.elements()).allMatch(i -> known.integer(i) == 0);
        return isNever ? weights : node.where(isHidden, node.real(0), weights);
    }

    /**
     * The scores with the mask. As in ONNX Runtime, it is added to them, so that a score that is no number stays one where the key is hidden; with
     * numbers of valid keys, scores of hidden keys are replaced, since what is behind a cache's valid keys is anything.
     */
    private static Arg masked(
            NodeContext node, Arg scores, Optional<Arg> given, Optional<Arg> seen, Optional<Arg> mask) {
        boolean areReplaced = node.has(LENGTHS);
        Arg sum = (areReplaced ? given : mask).map(m -> node.add(scores, m)).orElse(scores);
        return areReplaced ? hidden(node, seen.orElseThrow(), sum) : sum;
    }

    private static Arg hidden(Formulas e, Arg seen, Arg otherwise) {
        return e.where(seen, otherwise, e.real(HIDDEN));
    }

    /** The input with the mask: truth values, or numbers. Keys beyond a shorter one are masked. */
    private static Arg given(NodeContext node, Shape scores) {
        Arg mask = node.element(MASK) == ElementType.BOOL ? hidden(node, node.arg(MASK), node.real(0)) : node.arg(MASK);
        node.require(
                node.dtype(mask).isFloat() && node.shape(mask).rank() > 0,
                "its mask is " + node.type(node.arg(MASK)).text(),
                "floats or truth values of rank 1 or more");
        List<Integer> ranked = new ArrayList<>(
                Collections.nCopies(Math.max(0, 4 - node.shape(mask).rank()), 1));
        ranked.addAll(node.shape(mask).dims());
        mask = node.reshape(mask, ranked);
        int missing = scores.dim(SIZE) - node.shape(mask).dim(-1);
        if (missing > 0 && node.shape(mask).dim(-1) > 1) {
            Shape dims = node.shape(mask).with(-1, missing);
            Arg rest = node.broadcast(node.real(HIDDEN), dims);
            mask = node.concatenate(List.of(mask, rest), dims.rank() - 1);
        }
        node.require(
                node.broadcastShape(node.shape(mask), scores).equals(scores),
                "its mask is " + node.shape(mask).text(),
                "a shape that broadcasts to " + scores.text());
        return mask;
    }

    /** Which keys a query sees, by order, window and number of valid keys; empty if all. */
    private static Optional<Arg> seen(NodeContext node, Shape scores) {
        int queries = scores.dim(ROWS);
        int keys = scores.dim(SIZE);
        Arg key = node.places(Shape.of(1, 1, 1, keys), i -> i);
        Arg row = node.places(Shape.of(1, 1, queries, 1), i -> i);
        List<Arg> conditions = new ArrayList<>();
        Arg position = row;
        if (node.has(LENGTHS)) {
            Arg lengths = node.reshape(node.indices(node.arg(LENGTHS)), List.of(scores.dim(0), 1, 1, 1));
            conditions.add(node.less(key, lengths));
            position = node.has(PAST_KEY) ? row : node.add(row, node.add(lengths, -queries));
        }
        if (node.has(PAST_KEY)) {
            position = node.add(row, node.shape(PAST_KEY).dim(ROWS));
        }
        if (node.truth("is_causal", false)) {
            conditions.add(node.binary(Binary.Kind.LESS_EQUAL, key, position));
        }
        long left = node.whole("left_window_size", -1);
        if (left >= 0) {
            conditions.add(node.binary(Binary.Kind.GREATER_EQUAL, key, node.add(position, -reach(left))));
        }
        long right = node.whole("right_window_size", -1);
        if (right >= 0) {
            conditions.add(node.binary(Binary.Kind.LESS_EQUAL, key, node.add(position, reach(right))));
        }
        return conditions.stream().reduce((a, b) -> node.and(a, b));
    }

    /** The size of a window; beyond any number of keys it is all the same, and positions are int32. */
    private static double reach(long window) {
        return Math.min(window, MOST_KEYS);
    }

    /**
     * {@code RotaryEmbedding}: pairs of elements of each head, turned by the angle of their position: {@code (a, b)} becomes {@code (a * cos - b *
     * sin, a * sin + b * cos)}. A pair is two neighbours (interleaved), or elements of the two halves. Elements behind the first {@code
     * rotary_embedding_dim} stay.
     *
     * @param isOfRuntime whether it is ONNX Runtime's operator, whose positions are its second input, and are one number or one for each row
     */
    record RotaryEmbeddingImporter(boolean isOfRuntime) implements OnnxImporter {
        @Override
        public void emit(NodeContext node) {
            Shape shape = node.shape(0);
            boolean isFlat = shape.rank() == 3;
            node.require(isFlat || shape.rank() == 4, "its input is " + shape.text(), "a tensor of rank 3 or 4");
            node.require(
                    node.whole("is_packed_batching", 0) == 0 && node.real("scale", 1) == 1,
                    "it has packed batches or a scale",
                    "is_packed_batching=0 and scale=1");
            int cos = isOfRuntime ? 2 : 1;
            int rotated = rotated(node, shape, cos);
            Arg data = node.arg(0);
            if (isFlat) {
                long heads = node.whole("num_heads", 0);
                long count = heads > 0
                        ? heads
                        : shape.dim(2) / Math.max(1, 2 * node.shape(cos).dim(-1));
                node.require(
                        count > 0 && shape.dim(2) % count == 0,
                        "its num_heads is " + count,
                        "a divisor of " + shape.dim(2));
                data = node.reshape(
                        data, List.of(shape.dim(0), shape.dim(1), (int) count, (int) (shape.dim(2) / count)));
            }
            int size = node.shape(data).dim(-1);
            int half = rotated == 0 ? size / 2 : rotated / 2;
            node.require(half > 0 && 2 * half <= size, "its rotary_embedding_dim is " + rotated, "at most " + size);
            int rows = isFlat ? shape.dim(1) : shape.dim(2);
            List<Integer> angles = isFlat ? List.of(shape.dim(0), rows, 1, half) : List.of(shape.dim(0), 1, rows, half);
            Arg cosines = angles(node, cos, rows, angles);
            Arg sines = angles(node, cos + 1, rows, angles);
            boolean isInterleaved = node.truth("interleaved", false);
            Arg first = part(node, data, 0, half, isInterleaved);
            Arg second = part(node, data, 1, half, isInterleaved);
            Arg real = node.subtract(node.multiply(first, cosines), node.multiply(second, sines));
            Arg imaginary = node.add(node.multiply(first, sines), node.multiply(second, cosines));
            List<Arg> parts = new ArrayList<>(List.of(
                    isInterleaved
                            ? interleaved(node, real, imaginary)
                            : node.concatenate(List.of(real, imaginary), 3)));
            if (2 * half < size) {
                parts.add(node.slice(data, 3, 2 * half, size));
            }
            node.finish(node.reshape(node.concatenate(parts, 3), shape));
        }

        /** The elements of a head that are turned; 0 for all. */
        private static int rotated(NodeContext node, Shape shape, int cos) {
            long stated = node.whole("rotary_embedding_dim", 0);
            node.require(
                    stated >= 0 && stated % 2 == 0 && stated <= shape.dim(-1),
                    "its rotary_embedding_dim is " + stated,
                    "an even number, at most the size of a head");
            return stated == 0 && node.shape(cos).rank() > 0
                    ? 2 * node.shape(cos).dim(-1)
                    : (int) stated;
        }

        /** Rows of a table, chosen by the positions, in dimensions that broadcast over the heads. */
        private Arg angles(NodeContext node, int table, int rows, List<Integer> dims) {
            int positions = isOfRuntime ? 1 : 3;
            Arg values = node.arg(table);
            if (node.has(positions)) {
                Arg places = node.indices(node.arg(positions));
                boolean isFirst = isOfRuntime && node.shape(places).elements() == 1 && rows * dims.get(0) > 1;
                values = node.take(
                        values,
                        isFirst
                                ? node.add(node.places(Shape.of(rows), i -> i), node.reshape(places, List.of()))
                                : places,
                        0);
                if (isFirst) {
                    List<Integer> one = new ArrayList<>(dims);
                    one.set(0, 1);
                    return node.reshape(values, one);
                }
            }
            return node.reshape(values, dims);
        }

        private static Arg part(NodeContext node, Arg data, int index, int half, boolean isInterleaved) {
            return isInterleaved
                    ? node.emit(StridedSlice.along(node.shape(data), 3, index, 2 * half, 2), data)
                    : node.slice(data, 3, index * half, (index + 1) * half);
        }

        private static Arg interleaved(Formulas e, Arg even, Arg odd) {
            Shape halves = e.shape(even);
            Shape columns = halves.inserted(4);
            Arg pairs = e.concatenate(List.of(e.reshape(even, columns), e.reshape(odd, columns)), 4);
            return e.reshape(pairs, halves.with(3, 2 * halves.dim(3)));
        }
    }
}
