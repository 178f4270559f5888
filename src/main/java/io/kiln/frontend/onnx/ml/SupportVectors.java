// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.learning;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.ml.ClassLabels.PostTransform;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.operator.Repetition;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.List;

/**
 * Regression and classification by support vectors: {@code sum(coefficient * kernel(x, vector)) + rho}, of a classifier for each pair of
 * classes (core/providers/cpu/ml/svmclassifier.cc of ONNX Runtime).
 */
final class SupportVectors {
    static final List<OnnxRegistration> ALL = List.of(
            learning("SVMRegressor", SupportVectors::regressor), learning("SVMClassifier", SupportVectors::classifier));

    private static final int MOST_DEGREE = 8;

    /** Far more than an image has room for. */
    private static final long MOST_VECTORS = 1 << 20;

    /** Each is paired with each other one. */
    private static final int MOST_CLASSES = 256;

    private final NodeContext node;
    private final Arg data;
    private final int features;
    private final List<Float> parameters;

    private SupportVectors(NodeContext node) {
        this.node = node;
        this.data = TreeImporters.rows(node);
        this.features = node.shape(data).dim(1);
        this.parameters = node.reals("kernel_params").orElse(List.of(0f, 0f, 0f));
        node.require(parameters.size() >= 3, "kernel_params has " + parameters.size() + " numbers", "three");
    }

    private static void regressor(NodeContext node) {
        SupportVectors machine = new SupportVectors(node);
        long count = node.whole("n_supports", 0);
        List<Float> rho = node.reals("rho").orElse(List.of(0f));
        Arg kernels = count == 0 ? machine.data : machine.kernels(machine.list("support_vectors", count), (int) count);
        int weights = node.shape(kernels).dim(1);
        Arg sum = node.emit(
                new Dense(1), kernels, node.reals(machine.list("coefficients", 1, weights), Shape.of(1, weights)));
        node.require(!rho.isEmpty(), "rho is empty", "a number");
        Arg score = node.add(sum, rho.get(0));
        if (node.truth("one_class", false)) {
            Arg isInside = node.greater(score, node.real(0));
            score = node.where(isInside, node.real(1), node.real(-1));
        }
        PostTransform transform = PostTransform.of(node);
        node.finish(0, transform == PostTransform.PROBIT ? transform.of(node, score) : score, ElementType.FLOAT);
    }

    private static void classifier(NodeContext node) {
        SupportVectors machine = new SupportVectors(node);
        ClassLabels labels = ClassLabels.of(node, "classlabels_ints", "classlabels_strings");
        List<Long> counts = node.wholes("vectors_per_class").orElse(List.of());
        node.require(
                labels.size() <= MOST_CLASSES
                        && counts.size() == labels.size()
                        && counts.stream().allMatch(count -> count >= 0 && count <= MOST_VECTORS),
                "it has vectors of " + counts.size() + " classes and " + labels.size() + " class labels",
                "support vectors for each of at most " + MOST_CLASSES + " classes");
        node.require(
                PostTransform.of(node) == PostTransform.NONE,
                "its post_transform is " + PostTransform.of(node),
                "NONE, which scikit-learn's exporter writes");
        Arg scores = machine.pairScores(counts);
        Arg votes = machine.votes(scores, labels.size());
        labels.finish(node, node.emit(new ArgReduce(true, 1), votes), machine.shown(scores, labels.size()));
    }

    /** The scores of the pairs, of two classes those of both, or the probabilities of the classes if the node states how they follow. */
    private Arg shown(Arg scores, int classes) {
        List<Float> a = node.reals("prob_a").orElse(List.of());
        List<Float> b = node.reals("prob_b").orElse(List.of());
        if (a.isEmpty() && b.isEmpty()) {
            return classes == 2 ? node.concatenate(List.of(node.negate(scores), scores), 1) : scores;
        }
        int pairs = node.shape(scores).dim(1);
        node.require(
                a.size() == pairs && b.size() == pairs,
                "prob_a and prob_b have " + a.size() + " and " + b.size() + " numbers",
                pairs + ", one for each pair of classes");
        int most = CoupledProbabilities.MOST_CLASSES;
        node.require(
                classes <= most,
                "it has probabilities of " + classes + " classes",
                "at most " + most + ", or a model without prob_a and prob_b, such as of SVC(probability=False)");
        return CoupledProbabilities.of(node, scores, a, b, classes);
    }

    /** For each pair of classes, the first before the second, the sum that is positive if the first wins. */
    private Arg pairScores(List<Long> counts) {
        int classes = counts.size();
        int vectors = Math.toIntExact(counts.stream().mapToLong(count -> count).sum());
        Arg kernels = kernels(list("support_vectors", vectors), vectors);
        List<Float> coefficients = list("coefficients", classes - 1L, vectors);
        List<Float> rho = node.reals("rho").orElse(List.of());
        int pairs = classes * (classes - 1) / 2;
        node.require(
                rho.size() == pairs, "rho has " + rho.size() + " numbers", pairs + ", one for each pair of classes");
        node.tableOf(pairs, vectors);
        float[] weights = new float[pairs * vectors];
        int pair = 0;
        int first = 0;
        for (int i = 0; i < classes; i++) {
            int second = first + counts.get(i).intValue();
            for (int j = i + 1; j < classes; j++) {
                copy(coefficients, (j - 1) * vectors + first, weights, pair * vectors + first, counts.get(i));
                copy(coefficients, i * vectors + second, weights, pair * vectors + second, counts.get(j));
                second += counts.get(j).intValue();
                pair++;
            }
            first += counts.get(i).intValue();
        }
        Arg sums = node.emit(new Dense(pairs), kernels, node.reals(weights, Shape.of(pairs, vectors)));
        return node.emit(new BiasAdd(-1), sums, node.reals(rho, Shape.of(pairs)));
    }

    private static void copy(List<Float> from, int start, float[] to, int place, long count) {
        for (int i = 0; i < count; i++) {
            to[place + i] = from.get(start + i);
        }
    }

    /** How many pairs each class wins, less a constant. */
    private Arg votes(Arg scores, int classes) {
        int pairs = node.shape(scores).dim(1);
        float[] votes = new float[classes * pairs];
        float[] lost = new float[classes];
        int pair = 0;
        for (int i = 0; i < classes; i++) {
            for (int j = i + 1; j < classes; j++) {
                votes[i * pairs + pair] = 1;
                votes[j * pairs + pair++] = -1;
                lost[j]++;
            }
        }
        Arg isFirst = node.greater(scores, node.real(0));
        Arg won = node.emit(
                new Dense(classes), node.cast(isFirst, DType.FLOAT32), node.reals(votes, Shape.of(classes, pairs)));
        return node.emit(new BiasAdd(-1), won, node.reals(lost, Shape.of(classes)));
    }

    private List<Float> list(String name, long rows) {
        return list(name, rows, features);
    }

    private List<Float> list(String name, long rows, int columns) {
        List<Float> values = node.reals(name).orElseThrow(() -> node.missing(name));
        node.require(
                rows >= 1 && values.size() == rows * columns,
                "`" + name + "` has " + values.size() + " numbers",
                rows + " times " + columns);
        return values;
    }

    /** The kernel of each row and each vector. */
    private Arg kernels(List<Float> vectors, int count) {
        String kind = node.text("kernel_type", "LINEAR");
        if (kind.equals("RBF")) {
            int rows = node.shape(data).dim(0);
            node.tableOf(rows, vectors.size());
            Arg difference = node.subtract(
                    node.reshape(data, List.of(rows, 1, features)), node.reals(vectors, Shape.of(1, count, features)));
            Arg squares = node.reduce(Reduce.Kind.SUM, node.multiply(difference, difference), List.of(2));
            return node.exp(node.multiply(node.reshape(squares, List.of(rows, count)), -parameters.get(0)));
        }
        Arg products = node.emit(new Dense(count), data, node.reals(vectors, Shape.of(count, features)));
        return switch (kind) {
            case "LINEAR" -> products;
            case "POLY" -> power(scaled(products));
            case "SIGMOID" -> node.unary(Unary.Kind.TANH, scaled(products));
            default -> throw node.failure("its kernel_type is `" + kind + "`", "LINEAR, POLY, RBF or SIGMOID");
        };
    }

    private Arg scaled(Arg products) {
        return node.add(node.multiply(products, parameters.get(0)), parameters.get(1));
    }

    private Arg power(Arg base) {
        float degree = parameters.get(2);
        node.require(
                degree >= 1 && degree <= MOST_DEGREE && degree == Math.rint(degree),
                "the degree of its kernel is " + degree,
                "a whole number up to " + MOST_DEGREE);
        Arg power = base;
        for (int i = 1; i < degree; i++) {
            power = node.multiply(power, base);
        }
        return power;
    }

    /**
     * Probabilities of classes from those of pairs of classes: {@code p} that minimizes {@code p' Q p} with {@code sum(p) = 1}, where
     * {@code Q[i][i] = sum(r[j][i]^2)} and {@code Q[i][j] = -r[j][i] * r[i][j]} (Wu, Lin and Weng, Probability Estimates for Multi-class
     * Classification by Pairwise Coupling, 2004). As in LIBSVM and ONNX Runtime, sweeps over the classes end when all errors are below
     * 0.005 / classes, or after 100 of them; each row ends on its own.
     */
    private record CoupledProbabilities(int rows, int classes) {
        /** Most classes: a sweep is written out. */
        static final int MOST_CLASSES = 16;

        private static final int MOST_SWEEPS = 100;
        private static final float LEAST = 1e-7f;
        private static final float ERROR = 0.005f;

        /**
         * The probabilities, (rows, classes).
         *
         * @param scores (rows, pairs), positive if the first of a pair wins
         * @param a for each pair the factor of its score
         * @param b and what is added
         */
        static Arg of(NodeContext node, Arg scores, List<Float> a, List<Float> b, int classes) {
            CoupledProbabilities coupled =
                    new CoupledProbabilities(node.shape(scores).dim(0), classes);
            Shape pairs = Shape.of(1, a.size());
            Arg x = node.add(node.multiply(scores, node.reals(a, pairs)), node.reals(b, pairs));
            Arg won = node.clip(node.subtract(node.real(1), PostTransform.LOGISTIC.of(node, x)), LEAST, 1 - LEAST);
            Shape shape = Shape.of(coupled.rows, classes);
            List<Arg> begin = List.of(
                    Constant.reals("", shape, i -> 1f / classes),
                    coupled.matrix(node, won),
                    node.ints(List.of(0), Shape.of(1)));
            return Repetition.emit(node, begin, coupled::goesOn, coupled::sweep).get(0);
        }

        /** {@code Q}, (rows, classes, classes). */
        private Arg matrix(Formulas e, Arg won) {
            Arg lost = e.subtract(e.real(1), won);
            Arg none = e.reals(new float[rows], Shape.of(rows, 1));
            Arg all = e.concatenate(List.of(won, lost, none), 1);
            int pairs = e.shape(won).dim(1);
            Shape square = Shape.of(rows, classes, classes);
            Arg first = e.reshape(
                    e.take(
                            all,
                            e.places(Shape.of(classes * classes), at -> place(at / classes, at % classes, pairs)),
                            1),
                    square);
            Arg second = e.reshape(
                    e.take(
                            all,
                            e.places(Shape.of(classes * classes), at -> place(at % classes, at / classes, pairs)),
                            1),
                    square);
            Arg sums = e.reduce(Reduce.Kind.SUM, e.multiply(second, second), List.of(2));
            float[] unit = new float[classes * classes];
            for (int i = 0; i < classes; i++) {
                unit[i * classes + i] = 1;
            }
            Arg diagonal = e.multiply(sums, e.reals(unit, Shape.of(1, classes, classes)));
            return e.subtract(diagonal, e.multiply(first, second));
        }

        /** Where the probability of the first class against the second is. */
        private int place(int i, int j, int pairs) {
            int low = Math.min(i, j);
            int pair = low * (2 * classes - low - 1) / 2 + Math.max(i, j) - low - 1;
            return i == j ? 2 * pairs : i < j ? pair : pairs + pair;
        }

        /** {@code Q p}. */
        private Arg products(Formulas e, Arg p, Arg matrix) {
            Arg all = e.multiply(matrix, e.reshape(p, List.of(rows, 1, classes)));
            return e.reshape(e.reduce(Reduce.Kind.SUM, all, List.of(2)), List.of(rows, classes));
        }

        private Arg isDone(Formulas e, Arg products, Arg whole) {
            Arg errors = e.abs(e.subtract(products, whole));
            Arg most = e.reduce(Reduce.Kind.MAX, errors, List.of(1));
            return e.less(most, e.real(ERROR / classes));
        }

        private static Arg whole(Formulas e, Arg p, Arg products) {
            return e.reduce(Reduce.Kind.SUM, e.multiply(p, products), List.of(1));
        }

        private List<Arg> goesOn(Formulas e, List<Arg> carried) {
            Arg products = products(e, carried.get(0), carried.get(1));
            Arg done = e.cast(isDone(e, products, whole(e, carried.get(0), products)), DType.INT32);
            Arg least = e.reshape(e.reduce(Reduce.Kind.MIN, done, List.of(0)), List.of(1));
            Arg count = e.where(
                    e.equal(least, e.number(0, DType.INT32)),
                    carried.get(2),
                    e.ints(List.of(MOST_SWEEPS), Shape.of(1)));
            return List.of(e.less(count, e.number(MOST_SWEEPS, DType.INT32)));
        }

        private List<Arg> sweep(Formulas e, List<Arg> carried) {
            Arg p = carried.get(0);
            Arg matrix = carried.get(1);
            Arg products = products(e, p, matrix);
            Arg whole = whole(e, p, products);
            Arg isDone = isDone(e, products, whole);
            Arg next = p;
            for (int i = 0; i < classes; i++) {
                Arg row = e.reshape(e.slice(matrix, 1, i, i + 1), List.of(rows, classes));
                Arg factor = e.slice(row, 1, i, i + 1);
                Arg product = e.slice(products, 1, i, i + 1);
                Arg step = e.divide(e.subtract(whole, product), factor);
                Arg scale = e.add(step, 1);
                Arg growth = e.add(e.multiply(step, factor), e.multiply(product, 2));
                whole = e.divide(e.divide(e.add(whole, e.multiply(step, growth)), scale), scale);
                products = e.divide(e.add(products, e.multiply(step, row)), scale);
                next = e.divide(e.add(next, e.multiply(step, unit(e, i))), scale);
            }
            return List.of(e.where(isDone, p, next), matrix, e.add(carried.get(2), 1));
        }

        private Constant unit(Formulas e, int i) {
            float[] unit = new float[classes];
            unit[i] = 1;
            return e.reals(unit, Shape.of(1, classes));
        }
    }
}
