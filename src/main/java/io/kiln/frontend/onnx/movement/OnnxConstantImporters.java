// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.model.OnnxTensor;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Operators whose results are known when a model is imported, and those whose result has a shape that depends on their data, which must be
 * known at build time: constants, or inputs with a value.
 */
final class OnnxConstantImporters {
    private static final long MOST_ELEMENTS = 1 << 26;

    static final List<OnnxRegistration> ALL = List.of(
            onnx("Constant", OnnxConstantImporters::constant),
            onnx("ConstantOfShape", OnnxConstantImporters::constantOfShape),
            onnx("Range", OnnxConstantImporters::range),
            onnx("EyeLike", OnnxConstantImporters::eyeLike),
            onnx("OneHot", OnnxConstantImporters::oneHot),
            onnx("Trilu", OnnxConstantImporters::trilu),
            onnx("NonZero", OnnxConstantImporters::nonZero),
            onnx("Unique", OnnxConstantImporters::unique),
            onnx("NonMaxSuppression", OnnxConstantImporters::suppressed));

    private OnnxConstantImporters() {}

    private static void constant(NodeContext node) {
        OnnxValue value = value(node)
                .orElseThrow(() -> node.failure(
                        "its value is not a number or a dense tensor of numbers",
                        "one of the attributes value, value_int, value_ints, value_float and value_floats"));
        node.finish(0, value.arg(), value.type());
    }

    private static Optional<OnnxValue> value(NodeContext node) {
        Optional<OnnxTensor> tensor = node.tensor("value");
        return tensor.map(t -> new OnnxValue(t.constant(), t.type()))
                .or(() -> node.whole("value_int")
                        .map(v -> new OnnxValue(node.longs(List.of(v), Shape.scalar()), ElementType.INT64)))
                .or(() -> node.wholes("value_ints")
                        .map(v -> new OnnxValue(node.longs(v, Shape.of(v.size())), ElementType.INT64)))
                .or(() -> node.real("value_float").map(v -> new OnnxValue(node.real(v), ElementType.FLOAT)))
                .or(() -> node.reals("value_floats")
                        .map(v -> new OnnxValue(node.reals(v, Shape.of(v.size())), ElementType.FLOAT)));
    }

    private static void constantOfShape(NodeContext node) {
        List<Long> stated = node.integers(0, "shape");
        node.require(
                stated.stream().allMatch(d -> d >= 0 && d < MOST_ELEMENTS)
                        && stated.stream().mapToDouble(d -> d).reduce(1, (a, b) -> a * b) < MOST_ELEMENTS,
                "its shape is " + stated,
                "sizes of a tensor for a microcontroller");
        Shape shape = new Shape(stated.stream().map(Long::intValue).toList());
        Optional<OnnxTensor> value = node.tensor("value");
        ElementType type = value.map(OnnxTensor::type).orElse(ElementType.FLOAT);
        Arg scalar = value.map(v -> node.reshape(v.constant(), List.of())).orElse(node.real(0));
        node.finish(0, node.broadcast(scalar, shape), type);
    }

    private static void range(NodeContext node) {
        DType dtype = node.dtype(node.arg(0));
        double start = number(node.constant(0, "start"));
        double limit = number(node.constant(1, "limit"));
        double delta = number(node.constant(2, "delta"));
        double count = Math.max(0, Math.ceil((limit - start) / delta));
        node.require(delta != 0 && count < MOST_ELEMENTS, "it has " + count + " elements", "a step that ends");
        Arg index = node.cast(node.places(Shape.of((int) count), i -> i), dtype);
        node.finish(node.add(node.multiply(index, delta), start));
    }

    private static double number(Constant constant) {
        return constant.type().dtype().isFloat() ? constant.real(0) : constant.integer(0);
    }

    /** A constant of 0 and 1. */
    private static Arg marks(Formulas e, int rows, int columns, IntBinaryPredicate isMarked) {
        return e.places(Shape.of(rows, columns), i -> isMarked.test(i / columns, i % columns) ? 1 : 0);
    }

    private interface IntBinaryPredicate {
        boolean test(int row, int column);
    }

    private static void eyeLike(NodeContext node) {
        Shape shape = node.shape(0);
        node.require(shape.rank() == 2 && shape.elements() < MOST_ELEMENTS, "its data is " + shape.text(), "a matrix");
        long k = node.whole("k", 0);
        ElementType type = node.whole("dtype")
                .map(code -> ElementType.ofCode(code.intValue()).orElse(ElementType.UNDEFINED))
                .orElse(node.element(0));
        DType held = type.held().orElseThrow(() -> node.failure("its dtype is " + type.text(), "numbers"));
        Arg marks = marks(node, shape.dim(0), shape.dim(1), (i, j) -> (long) j - i == k);
        node.finish(0, node.cast(marks, held), type);
    }

    /** Two values, the second where the index along a new axis is the data's; indices out of range give the first only. */
    private static void oneHot(NodeContext node) {
        Shape shape = node.shape(0);
        double depth = number(node.constant(1, "depth"));
        node.require(depth >= 1 && depth < MOST_ELEMENTS, "its depth is " + depth, "a number above 0");
        int axis = node.axis(node.whole("axis", -1), shape.rank() + 1);
        Shape dims = shape.inserted(axis);
        Arg index = node.cast(node.reshape(node.arg(0), dims), DType.INT32);
        Arg isNegative = node.less(index, node.number(0, DType.INT32));
        Arg counted = node.where(isNegative, node.add(index, depth), index);
        Arg places = node.places(Formulas.along(dims.rank(), axis, (int) depth), i -> i);
        Arg isHot = node.equal(counted, places);
        Arg off = node.reshape(node.slice(node.arg(2), 0, 0, 1), List.of());
        Arg on = node.reshape(node.slice(node.arg(2), 0, 1, 2), List.of());
        node.finish(0, node.where(isHot, on, off), node.element(2));
    }

    private static void trilu(NodeContext node) {
        Shape shape = node.shape(0);
        node.require(shape.rank() >= 2, "its data is " + shape.text(), "matrices");
        long k = node.has(1) ? node.integers(1, "k").get(0) : 0;
        boolean isUpper = node.truth("upper", true);
        Arg marks = marks(node, shape.dim(-2), shape.dim(-1), (i, j) -> isUpper ? j - i >= k : j - i <= k);
        node.finish(node.where(node.cast(marks, DType.BOOL), node.arg(0), node.number(0, node.dtype(node.arg(0)))));
    }

    private static double number(Constant values, int index) {
        return values.type().dtype().isFloat() ? values.real(index) : values.integer(index);
    }

    private static int product(List<Integer> dims) {
        return Math.toIntExact(new Shape(dims).elements());
    }

    /** The coordinates of elements that are not 0: a row for each axis. */
    private static void nonZero(NodeContext node) {
        Constant data = node.constant(0, "data");
        Shape shape = data.type().shape();
        node.require(shape.rank() > 0, "its data is a scalar", "a tensor of rank 1 or more");
        List<Integer> places = IntStream.range(0, data.elements())
                .filter(i -> number(data, i) != 0)
                .boxed()
                .toList();
        List<Long> coordinates = new ArrayList<>();
        for (int axis = 0; axis < shape.rank(); axis++) {
            int inner = product(shape.dims().subList(axis + 1, shape.rank()));
            int size = shape.dim(axis);
            places.forEach(place -> coordinates.add((long) (place / inner % size)));
        }
        node.finish(0, node.longs(coordinates, Shape.of(shape.rank(), places.size())), ElementType.INT64);
    }

    /** Elements, or slices along an axis, each once: sorted, or in the order of their first places. */
    private static void unique(NodeContext node) {
        Constant given = node.constant(0, "data");
        boolean isFlat = !node.has("axis");
        Arg data = isFlat ? IndexImporters.flat(node, given) : given;
        Shape shape = node.shape(data);
        int axis = isFlat ? 0 : node.axis(node.whole("axis", 0), shape.rank());
        int inner = product(shape.dims().subList(axis + 1, shape.rank()));
        int outer = product(shape.dims().subList(0, axis));
        int size = shape.dim(axis);
        Comparator<Integer> order = (a, b) -> {
            int result = 0;
            for (int i = 0; i < outer * inner && result == 0; i++) {
                int at = i / inner * size * inner + i % inner;
                result = compare(given, at + a * inner, at + b * inner);
            }
            return result;
        };
        TreeMap<Integer, List<Integer>> groups = new TreeMap<>(order);
        IntStream.range(0, size)
                .forEach(i ->
                        groups.computeIfAbsent(i, first -> new ArrayList<>()).add(i));
        List<List<Integer>> sorted = new ArrayList<>(groups.values());
        if (!node.truth("sorted", true)) {
            sorted.sort(Comparator.comparing(group -> group.get(0)));
        }
        Long[] inverse = new Long[size];
        for (int i = 0; i < sorted.size(); i++) {
            for (int place : sorted.get(i)) {
                inverse[place] = (long) i;
            }
        }
        List<Integer> firsts = sorted.stream().map(group -> group.get(0)).toList();
        node.finish(0, node.take(data, node.ints(firsts, Shape.of(firsts.size())), axis), node.element(0));
        finish(node, 1, firsts.stream().map(Integer::longValue).toList());
        finish(node, 2, List.of(inverse));
        finish(node, 3, sorted.stream().map(group -> (long) group.size()).toList());
    }

    private static int compare(Constant values, int a, int b) {
        return values.type().dtype().isFloat()
                ? Float.compare(values.real(a), values.real(b))
                : Long.compare(values.integer(a), values.integer(b));
    }

    private static void finish(NodeContext node, int output, List<Long> values) {
        node.finish(output, node.longs(values, Shape.of(values.size())), ElementType.INT64);
    }

    /** Boxes of the highest scores of each class that do not overlap better ones. */
    private static void suppressed(NodeContext node) {
        Constant boxes = node.constant(0, "boxes");
        Constant scores = node.constant(1, "scores");
        Shape shape = scores.type().shape();
        node.require(
                boxes.type().dtype() == DType.FLOAT32
                        && scores.type().dtype() == DType.FLOAT32
                        && shape.rank() == 3
                        && boxes.type().shape().equals(Shape.of(shape.dim(0), shape.dim(2), 4)),
                "its boxes are " + boxes.type().text() + " and its scores "
                        + scores.type().text(),
                "floats (batches, boxes, 4) and (batches, classes, boxes)");
        int classes = shape.dim(1);
        int count = shape.dim(2);
        long most = node.has(2) ? node.integers(2, "max_output_boxes_per_class").get(0) : 0;
        float overlap = node.has(3) ? node.reals(3, "iou_threshold").get(0) : 0;
        float least = node.has(4) ? node.reals(4, "score_threshold").get(0) : Float.NEGATIVE_INFINITY;
        Boxes all = new Boxes(boxes, node.truth("center_point_box", false));
        List<Long> selected = new ArrayList<>();
        for (int row = 0; row < shape.dim(0) * classes; row++) {
            int first = row * count;
            int batch = row / classes * count;
            List<Integer> kept = new ArrayList<>();
            IntStream.range(0, count)
                    .boxed()
                    .filter(i -> scores.real(first + i) > least)
                    .sorted(Comparator.comparing(i -> -scores.real(first + i)))
                    .filter(i -> kept.size() < most)
                    .filter(i -> kept.stream().noneMatch(k -> all.overlap(batch + i, batch + k) > overlap))
                    .forEach(kept::add);
            for (int box : kept) {
                selected.addAll(List.of((long) (row / classes), (long) (row % classes), (long) box));
            }
        }
        node.finish(0, node.longs(selected, Shape.of(selected.size() / 3, 3)), ElementType.INT64);
    }

    /**
     * Boxes.
     *
     * @param numbers two corners of each, or its centre and size
     */
    private record Boxes(Constant numbers, boolean hasCentres) {
        private float begin(int box, int axis) {
            return hasCentres
                    ? number(box, axis) - number(box, axis + 2) / 2
                    : Math.min(number(box, axis), number(box, axis + 2));
        }

        private float end(int box, int axis) {
            return hasCentres
                    ? number(box, axis) + number(box, axis + 2) / 2
                    : Math.max(number(box, axis), number(box, axis + 2));
        }

        private float number(int box, int index) {
            return numbers.real(4 * box + index);
        }

        private float area(int box) {
            return (end(box, 0) - begin(box, 0)) * (end(box, 1) - begin(box, 1));
        }

        /** The area of what two boxes have in common, by that of both together. */
        float overlap(int a, int b) {
            float common = 1;
            for (int axis = 0; axis < 2; axis++) {
                common *= Math.max(0, Math.min(end(a, axis), end(b, axis)) - Math.max(begin(a, axis), begin(b, axis)));
            }
            return common > 0 ? common / (area(a) + area(b) - common) : 0;
        }
    }
}
