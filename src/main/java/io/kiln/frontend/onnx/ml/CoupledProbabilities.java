// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.Repetition;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.Arrays;
import java.util.List;

/**
 * Probabilities of classes from those of pairs of classes: {@code p} that minimizes {@code p' Q p} with {@code sum(p) = 1}, where
 * {@code Q[i][i] = sum(r[j][i]^2)} and {@code Q[i][j] = -r[j][i] * r[i][j]} (Wu, Lin and Weng, Probability Estimates for Multi-class
 * Classification by Pairwise Coupling, 2004). As in LIBSVM and ONNX Runtime, sweeps over the classes end when all errors are below
 * 0.005 / classes, or after 100 of them; each row ends on its own.
 */
final class CoupledProbabilities {
    /** Most classes: a sweep is written out. */
    static final int MOST_CLASSES = 16;

    private static final int MOST_SWEEPS = 100;
    private static final float LEAST = 1e-7f;
    private static final float ERROR = 0.005f;

    private final int rows;
    private final int classes;

    private CoupledProbabilities(int rows, int classes) {
        this.rows = rows;
        this.classes = classes;
    }

    /**
     * The probabilities, (rows, classes).
     *
     * @param scores (rows, pairs), positive if the first of a pair wins
     * @param a for each pair the factor of its score
     * @param b and what is added
     */
    static Arg of(NodeContext node, Arg scores, List<Float> a, List<Float> b, int classes) {
        Expressions e = new Expressions(node);
        CoupledProbabilities coupled = new CoupledProbabilities(e.shape(scores).dim(0), classes);
        Shape pairs = Shape.of(1, a.size());
        Arg x = e.add(
                e.multiply(scores, e.reals(LinearImporters.floats(a), pairs)),
                e.reals(LinearImporters.floats(b), pairs));
        Arg won = e.clip(e.subtract(e.number(1, DType.FLOAT32), PostTransform.LOGISTIC.of(node, x)), LEAST, 1 - LEAST);
        Shape shape = Shape.of(coupled.rows, classes);
        float[] equal = new float[(int) shape.elements()];
        Arrays.fill(equal, 1f / classes);
        List<Arg> begin = List.of(e.reals(equal, shape), coupled.matrix(e, won), e.ints(List.of(0), Shape.of(1)));
        return Repetition.emit(node, begin, coupled::goesOn, coupled::sweep).get(0);
    }

    /** {@code Q}, (rows, classes, classes). */
    private Arg matrix(Formulas e, Arg won) {
        Arg lost = e.subtract(e.number(1, DType.FLOAT32), won);
        Arg none = e.reals(new float[rows], Shape.of(rows, 1));
        Arg all = e.concatenate(List.of(won, lost, none), 1);
        int pairs = e.shape(won).dim(1);
        Shape square = Shape.of(rows, classes, classes);
        Arg first = e.reshape(
                e.take(all, e.places(Shape.of(classes * classes), at -> place(at / classes, at % classes, pairs)), 1),
                square);
        Arg second = e.reshape(
                e.take(all, e.places(Shape.of(classes * classes), at -> place(at % classes, at / classes, pairs)), 1),
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

    /** Whether a row is done. */
    private Arg isDone(Formulas e, Arg products, Arg whole) {
        Arg errors = e.unary(Unary.Kind.ABS, e.subtract(products, whole));
        Arg most = e.reduce(Reduce.Kind.MAX, errors, List.of(1));
        return e.binary(Binary.Kind.LESS, most, e.number(ERROR / classes, DType.FLOAT32));
    }

    private static Arg whole(Formulas e, Arg p, Arg products) {
        return e.reduce(Reduce.Kind.SUM, e.multiply(p, products), List.of(1));
    }

    private List<Arg> goesOn(Formulas e, List<Arg> carried) {
        Arg products = products(e, carried.get(0), carried.get(1));
        Arg done = e.cast(isDone(e, products, whole(e, carried.get(0), products)), DType.INT32);
        Arg least = e.reshape(e.reduce(Reduce.Kind.MIN, done, List.of(0)), List.of(1));
        Arg count = e.where(
                e.binary(Binary.Kind.EQUAL, least, e.number(0, DType.INT32)),
                carried.get(2),
                e.ints(List.of(MOST_SWEEPS), Shape.of(1)));
        return List.of(e.binary(Binary.Kind.LESS, count, e.number(MOST_SWEEPS, DType.INT32)));
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
