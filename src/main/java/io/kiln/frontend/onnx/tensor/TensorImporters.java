// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.tensor;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Products of tensors, n-grams, grids of an image's positions, and steps of training, which a model computes as its result: a learning rate, the
 * number of the step, then tensors, their gradients and their states.
 */
public final class TensorImporters {
    private static final String DOMAIN = "ai.onnx.preview.training";
    private static final int MOST_SKIPS = 64;

    private static final int MOST = 4;

    private static final List<OnnxRegistration> OWN = List.of(
            onnx("Einsum", new EinsumImporter()),
            onnx("Det", TensorImporters::determinant),
            onnx("TfIdfVectorizer", TensorImporters::ngrams),
            onnx("AffineGrid", 20, TensorImporters::grid),
            new OnnxRegistration(DOMAIN, "Adagrad", 1, 1, TensorImporters::adagrad),
            new OnnxRegistration(DOMAIN, "Adam", 1, 1, TensorImporters::adam),
            new OnnxRegistration(DOMAIN, "Momentum", 1, 1, TensorImporters::momentum));

    public static final List<OnnxRegistration> ALL =
            Stream.of(OWN, FourierImporters.ALL).flatMap(List::stream).toList();

    private TensorImporters() {}

    /** The positions of an image's elements, or of a volume's, turned by a matrix for each batch; from -1 to 1 along each axis. */
    private static void grid(NodeContext node) {
        List<Long> sizes = node.integers(1, "size");
        int axes = sizes.size() - 2;
        node.require(
                (axes == 2 || axes == 3)
                        && sizes.stream().allMatch(size -> size > 0 && size <= Short.MAX_VALUE)
                        && node.shape(0).equals(Shape.of(sizes.get(0).intValue(), axes, axes + 1)),
                "its size is " + sizes + " and its matrices " + node.shape(0).text(),
                "batches, channels and 2 or 3 sizes, and (batches, axes, axes + 1)");
        boolean hasCorners = node.truth("align_corners", false);
        List<Integer> result = sizes.stream().map(Long::intValue).toList();
        List<Integer> extent = result.subList(2, result.size());
        int places = node.tableOf(new Shape(extent).elements(), 1);
        float[] positions = new float[node.tableOf(places, axes + 1L)];
        for (int i = 0; i < places; i++) {
            int rest = i;
            for (int k = 0; k < axes; k++) {
                int size = extent.get(axes - 1 - k);
                int place = rest % size;
                rest /= size;
                positions[i * (axes + 1) + k] =
                        hasCorners ? (size == 1 ? -1 : 2f * place / (size - 1) - 1) : (2f * place + 1) / size - 1;
            }
            positions[i * (axes + 1) + axes] = 1;
        }
        Arg base = node.broadcast(
                node.reals(positions, Shape.of(1, places, axes + 1)), Shape.of(result.get(0), places, axes + 1));
        Arg turned = node.product(base, node.transpose(node.arg(0), List.of(0, 2, 1)));
        List<Integer> dims = new ArrayList<>(List.of(result.get(0)));
        dims.addAll(extent);
        dims.add(axes);
        node.finish(node.reshape(turned, dims));
    }

    /** Determinants of small matrices, expanded along the first row. */
    private static void determinant(NodeContext node) {
        Shape shape = node.shape(0);
        int rank = shape.rank();
        node.require(
                rank >= 2 && shape.dim(-1) == shape.dim(-2) && shape.dim(-1) <= MOST,
                "its data is " + shape.text(),
                "square matrices of at most " + MOST + " rows");
        Arg det = determinant(node, node.arg(0), rank);
        node.finish(node.reshape(det, shape.dims().subList(0, rank - 2)));
    }

    private static Arg determinant(Formulas e, Arg matrix, int rank) {
        int size = e.shape(matrix).dim(-1);
        if (size == 1) {
            return matrix;
        }
        Arg rest = e.slice(matrix, rank - 2, 1, size);
        Arg first = e.slice(matrix, rank - 2, 0, 1);
        Arg sum = null;
        for (int column = 0; column < size; column++) {
            List<Arg> columns = new ArrayList<>();
            if (column > 0) {
                columns.add(e.slice(rest, rank - 1, 0, column));
            }
            if (column < size - 1) {
                columns.add(e.slice(rest, rank - 1, column + 1, size));
            }
            Arg minor = determinant(e, e.concatenate(columns, rank - 1), rank);
            Arg product = e.multiply(e.slice(first, rank - 1, column, column + 1), minor);
            sum = column == 0 ? product : column % 2 == 1 ? e.subtract(sum, product) : e.add(sum, product);
        }
        return sum;
    }

    /** {@code TfIdfVectorizer} of integers: how often each of some short sequences occurs in a row, also with elements left out between its own. */
    private static void ngrams(NodeContext node) {
        Shape shape = node.shape(0);
        node.require(
                (shape.rank() == 1 || shape.rank() == 2)
                        && (node.dtype(node.arg(0)) == DType.INT32 || node.dtype(node.arg(0)) == DType.INT64)
                        && !node.has("pool_strings"),
                "its input is " + shape.text() + " of " + node.element(0).text() + ", or it has strings",
                "one or two dimensions of int32 or int64");
        int rows = shape.rank() == 1 ? 1 : shape.dim(0);
        Arg data = node.cast(node.reshape(node.arg(0), List.of(rows, 1, shape.dim(-1))), DType.INT64);
        List<Long> pool = node.requiredWholes("pool_int64s");
        List<Long> begins = node.requiredWholes("ngram_counts");
        long least = node.requiredWhole("min_gram_length");
        long most = node.requiredWhole("max_gram_length");
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
                                ? counts(node, data, grams, length)
                                : node.broadcast(node.real(0), Shape.of(rows, grams.size() / length)));
            }
        }
        Arg result = columns(node, weighted(node, node.concatenate(counts, 1)));
        node.finish(
                0,
                shape.rank() == 1
                        ? node.reshape(result, List.of(node.shape(result).dim(1)))
                        : result,
                ElementType.FLOAT);
    }

    /** How often sequences of one length occur. */
    private static Arg counts(NodeContext node, Arg data, List<Long> grams, int length) {
        Shape shape = node.shape(data);
        int count = grams.size() / length;
        long skips = length == 1 ? 0 : node.requiredWhole("max_skip_count");
        node.require(skips >= 0 && skips <= MOST_SKIPS, "its max_skip_count is " + skips, "0 to " + MOST_SKIPS);
        Arg sum = node.broadcast(node.real(0), Shape.of(shape.dim(0), count));
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
                matches.add(node.equal(
                        node.slice(data, 2, i * step, i * step + places), node.longs(elements, Shape.of(1, count, 1))));
            }
            Arg match = matches.stream().reduce((a, b) -> node.and(a, b)).orElseThrow();
            Arg found = node.reduce(Reduce.Kind.SUM, node.cast(match, DType.FLOAT32), List.of(2));
            sum = node.add(sum, node.reshape(found, List.of(shape.dim(0), count)));
        }
        return sum;
    }

    private static Arg weighted(NodeContext node, Arg counts) {
        String mode = node.text("mode", "");
        node.require(List.of("TF", "IDF", "TFIDF").contains(mode), "its mode is `" + mode + "`", "TF, IDF or TFIDF");
        if (mode.equals("TF")) {
            return counts;
        }
        int size = node.shape(counts).dim(1);
        List<Float> stated = node.reals("weights").orElse(Collections.nCopies(size, 1f));
        node.require(stated.size() == size, "it has " + stated.size() + " weights", "" + size);
        Arg limited = mode.equals("IDF") ? node.minimum(counts, node.real(1)) : counts;
        return node.multiply(limited, node.reals(stated, Shape.of(1, size)));
    }

    /** The counts in the columns that are stated for them; others are 0. */
    private static Arg columns(NodeContext node, Arg counts) {
        List<Long> columns = node.requiredWholes("ngram_indexes");
        int size = node.shape(counts).dim(1);
        long width = columns.stream().mapToLong(c -> c).max().orElse(0) + 1;
        node.require(
                columns.size() == size && Collections.min(columns) >= 0 && node.tableOf(width, 1) > 0,
                "its ngram_indexes are " + columns.size() + " numbers",
                size + " numbers from 0 on");
        List<Integer> sources = new ArrayList<>(Collections.nCopies((int) width, size));
        for (int i = 0; i < size; i++) {
            sources.set(columns.get(i).intValue(), i);
        }
        Arg zeros = node.broadcast(node.real(0), Shape.of(node.shape(counts).dim(0), 1));
        return node.take(node.concatenate(List.of(counts, zeros), 1), node.ints(sources, Shape.of((int) width)), 1);
    }

    /** Computes the outputs for one of the tensors. */
    private interface Step {
        /**
         * The new tensor and its new states.
         *
         * @param inputs the tensor, its gradient and its states
         */
        List<Arg> of(List<Arg> inputs);
    }

    private static void each(NodeContext node, int kinds, Step step) {
        int count = (node.inputs() - 2) / kinds;
        node.require(
                count > 0 && node.inputs() == 2 + kinds * count,
                "it has " + node.inputs() + " inputs",
                "2 and " + kinds + " for each tensor");
        for (int i = 0; i < count; i++) {
            int tensor = i;
            List<Arg> results = step.of(IntStream.range(0, kinds)
                    .mapToObj(kind -> node.arg(2 + kind * count + tensor))
                    .toList());
            for (int kind = 0; kind < results.size(); kind++) {
                node.finish(kind * count + i, results.get(kind));
            }
        }
    }

    /** The gradient with that of a penalty for large numbers. */
    private static Arg gradient(NodeContext node, List<Arg> inputs) {
        float penalty = node.real("norm_coefficient", 0);
        return node.add(node.multiply(inputs.get(0), penalty), inputs.get(1));
    }

    private static long steps(NodeContext node) {
        return node.integers(1, "number of the step").get(0);
    }

    /** The square root and the summand that keeps it above 0, which must be stated: ONNX's page and its tests have different defaults. */
    private static Arg root(NodeContext node, Arg value) {
        float epsilon = node.real("epsilon").orElseThrow(() -> node.missing("epsilon"));
        return node.add(node.sqrt(value), epsilon);
    }

    private static void adagrad(NodeContext node) {
        float decay = node.real("decay_factor", 0);
        Arg rate = node.divide(node.arg(0), node.real(1 + steps(node) * (double) decay));
        each(node, 3, inputs -> {
            Arg gradient = gradient(node, inputs);
            Arg squares = node.add(inputs.get(2), node.multiply(gradient, gradient));
            Arg change = node.divide(node.multiply(gradient, rate), root(node, squares));
            return List.of(node.subtract(inputs.get(0), change), squares);
        });
    }

    private static void adam(NodeContext node) {
        float alpha = node.real("alpha", 0.9f);
        float beta = node.real("beta", 0.999f);
        double steps = steps(node);
        double bias = steps > 0 ? Math.sqrt(1 - Math.pow(beta, steps)) / (1 - Math.pow(alpha, steps)) : 1;
        Arg rate = node.multiply(node.arg(0), bias);
        float after = 1 - node.real("norm_coefficient_post", 0);
        each(node, 4, inputs -> {
            Arg gradient = gradient(node, inputs);
            Arg mean = node.add(node.multiply(inputs.get(2), alpha), node.multiply(gradient, 1 - alpha));
            Arg squares = node.add(
                    node.multiply(inputs.get(3), beta), node.multiply(node.multiply(gradient, gradient), 1 - beta));
            Arg change = node.divide(node.multiply(mean, rate), root(node, squares));
            return List.of(node.multiply(node.subtract(inputs.get(0), change), after), mean, squares);
        });
    }

    private static void momentum(NodeContext node) {
        float alpha = node.real("alpha").orElseThrow(() -> node.missing("alpha"));
        float stated = node.real("beta").orElseThrow(() -> node.missing("beta"));
        float beta = steps(node) > 0 ? stated : 1;
        String mode = node.text("mode", "");
        node.require(
                List.of("standard", "nesterov").contains(mode), "its mode is `" + mode + "`", "standard or nesterov");
        each(node, 3, inputs -> {
            Arg gradient = gradient(node, inputs);
            Arg mean = node.add(node.multiply(inputs.get(2), alpha), node.multiply(gradient, beta));
            Arg direction = mode.equals("standard") ? mean : node.add(gradient, node.multiply(mean, alpha));
            return List.of(node.subtract(inputs.get(0), node.multiply(direction, node.arg(0))), mean);
        });
    }
}
