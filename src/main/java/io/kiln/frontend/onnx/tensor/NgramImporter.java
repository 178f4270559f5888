// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.tensor;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** {@code TfIdfVectorizer} of integers: how often each of some short sequences occurs in a row, also with elements left out between its own. */
final class NgramImporter implements OnnxImporter {
    private static final int MOST_SKIPS = 64;

    @Override
    public void emit(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        node.require(
                (shape.rank() == 1 || shape.rank() == 2)
                        && (e.dtype(node.arg(0)) == DType.INT32 || e.dtype(node.arg(0)) == DType.INT64)
                        && !node.attributes().has("pool_strings"),
                "its input is " + shape.text() + " of " + node.element(0).text() + ", or it has strings",
                "one or two dimensions of int32 or int64");
        int rows = shape.rank() == 1 ? 1 : shape.dim(0);
        Arg data = e.cast(e.reshape(node.arg(0), List.of(rows, 1, shape.dim(-1))), DType.INT64);
        List<Long> pool = node.attributes().requiredWholes("pool_int64s");
        List<Long> begins = node.attributes().requiredWholes("ngram_counts");
        long least = node.attributes().requiredWhole("min_gram_length");
        long most = node.attributes().requiredWhole("max_gram_length");
        List<Arg> counts = new ArrayList<>();
        for (int length = 1; length <= begins.size(); length++) {
            int begin = begins.get(length - 1).intValue();
            int end = length < begins.size() ? begins.get(length).intValue() : pool.size();
            node.require(
                    begin >= 0 && begin <= end && end <= pool.size() && (end - begin) % length == 0,
                    "its ngram_counts are " + begins,
                    "places in its pool of " + pool.size() + " numbers");
            if (end > begin) {
                List<Long> grams = pool.subList(begin, end);
                counts.add(
                        length >= least && length <= most
                                ? counts(e, node, data, grams, length)
                                : e.broadcast(e.number(0, DType.FLOAT32), Shape.of(rows, grams.size() / length)));
            }
        }
        Arg result = columns(e, node, weighted(e, node, e.concatenate(counts, 1)));
        node.finish(
                0, shape.rank() == 1 ? e.reshape(result, List.of(e.shape(result).dim(1))) : result, ElementType.FLOAT);
    }

    /** How often sequences of one length occur. */
    private static Arg counts(Expressions e, NodeContext node, Arg data, List<Long> grams, int length) {
        Shape shape = e.shape(data);
        int count = grams.size() / length;
        long skips = length == 1 ? 0 : node.attributes().requiredWhole("max_skip_count");
        node.require(skips >= 0 && skips <= MOST_SKIPS, "its max_skip_count is " + skips, "0 to " + MOST_SKIPS);
        Arg sum = e.broadcast(e.number(0, DType.FLOAT32), Shape.of(shape.dim(0), count));
        for (int step = 1; step <= skips + 1; step++) {
            int places = shape.dim(2) - (length - 1) * step;
            if (places <= 0) {
                break;
            }
            List<Arg> matches = new ArrayList<>();
            for (int i = 0; i < length; i++) {
                List<Long> elements = new ArrayList<>();
                for (int k = i; k < grams.size(); k += length) {
                    elements.add(grams.get(k));
                }
                matches.add(e.binary(
                        Binary.Kind.EQUAL,
                        e.slice(data, 2, i * step, i * step + places),
                        e.longs(elements, Shape.of(1, count, 1))));
            }
            Arg match = matches.stream()
                    .reduce((a, b) -> e.binary(Binary.Kind.LOGICAL_AND, a, b))
                    .orElseThrow();
            Arg found = e.reduce(Reduce.Kind.SUM, e.cast(match, DType.FLOAT32), List.of(2));
            sum = e.add(sum, e.reshape(found, List.of(shape.dim(0), count)));
        }
        return sum;
    }

    private static Arg weighted(Expressions e, NodeContext node, Arg counts) {
        String mode = node.attributes().text("mode", "");
        node.require(List.of("TF", "IDF", "TFIDF").contains(mode), "its mode is `" + mode + "`", "TF, IDF or TFIDF");
        if (mode.equals("TF")) {
            return counts;
        }
        int size = e.shape(counts).dim(1);
        List<Float> stated = node.attributes().reals("weights").orElse(Collections.nCopies(size, 1f));
        node.require(stated.size() == size, "it has " + stated.size() + " weights", "" + size);
        float[] weights = new float[size];
        for (int i = 0; i < size; i++) {
            weights[i] = stated.get(i);
        }
        Arg limited = mode.equals("IDF") ? e.binary(Binary.Kind.MINIMUM, counts, e.number(1, DType.FLOAT32)) : counts;
        return e.multiply(limited, e.reals(weights, Shape.of(1, size)));
    }

    /** The counts in the columns that are stated for them; others are 0. */
    private static Arg columns(Expressions e, NodeContext node, Arg counts) {
        List<Long> columns = node.attributes().requiredWholes("ngram_indexes");
        int size = e.shape(counts).dim(1);
        long width = columns.stream().mapToLong(c -> c).max().orElse(0) + 1;
        node.require(
                columns.size() == size && Collections.min(columns) >= 0 && e.tableOf(width, 1) > 0,
                "its ngram_indexes are " + columns.size() + " numbers",
                size + " numbers from 0 on");
        List<Integer> sources = new ArrayList<>(Collections.nCopies((int) width, size));
        for (int i = 0; i < size; i++) {
            sources.set(columns.get(i).intValue(), i);
        }
        Arg zeros =
                e.broadcast(e.number(0, DType.FLOAT32), Shape.of(e.shape(counts).dim(0), 1));
        return e.take(e.concatenate(List.of(counts, zeros), 1), e.ints(sources, Shape.of((int) width)), 1);
    }
}
