// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.model.OnnxTensor;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Operators whose results are known when a model is imported. */
final class OnnxConstantImporters {
    private static final long MOST_ELEMENTS = 1 << 26;

    static final List<OnnxRegistration> ALL = List.of(
            onnx("Constant", OnnxConstantImporters::constant),
            onnx("ConstantOfShape", OnnxConstantImporters::constantOfShape),
            onnx("Range", OnnxConstantImporters::range),
            onnx("EyeLike", OnnxConstantImporters::eyeLike),
            onnx("OneHot", OnnxConstantImporters::oneHot),
            onnx("Trilu", OnnxConstantImporters::trilu));

    private OnnxConstantImporters() {}

    private static void constant(NodeContext node) {
        OnnxValue value = value(node)
                .orElseThrow(() -> node.failure(
                        "its value is not a number or a dense tensor of numbers",
                        "one of the attributes value, value_int, value_ints, value_float and value_floats"));
        node.finish(0, value.arg(), value.type());
    }

    private static Optional<OnnxValue> value(NodeContext node) {
        Expressions e = new Expressions(node);
        Optional<OnnxTensor> tensor = node.attributes().tensor("value");
        return tensor.map(t -> new OnnxValue(t.constant(), t.type()))
                .or(() -> node.attributes()
                        .whole("value_int")
                        .map(v -> new OnnxValue(e.longs(List.of(v), Shape.scalar()), ElementType.INT64)))
                .or(() -> node.attributes()
                        .wholes("value_ints")
                        .map(v -> new OnnxValue(e.longs(v, Shape.of(v.size())), ElementType.INT64)))
                .or(() -> node.attributes()
                        .real("value_float")
                        .map(v -> new OnnxValue(e.number(v, DType.FLOAT32), ElementType.FLOAT)))
                .or(() -> node.attributes().reals("value_floats").map(v -> {
                    float[] values = new float[v.size()];
                    for (int i = 0; i < values.length; i++) {
                        values[i] = v.get(i);
                    }
                    return new OnnxValue(e.reals(values, Shape.of(values.length)), ElementType.FLOAT);
                }));
    }

    private static void constantOfShape(NodeContext node) {
        Expressions e = new Expressions(node);
        List<Long> stated = node.integers(0, "shape");
        node.require(
                stated.stream().allMatch(d -> d >= 0 && d < MOST_ELEMENTS)
                        && stated.stream().mapToDouble(d -> d).reduce(1, (a, b) -> a * b) < MOST_ELEMENTS,
                "its shape is " + stated,
                "sizes of a tensor for a microcontroller");
        Shape shape = new Shape(stated.stream().map(Long::intValue).toList());
        Optional<OnnxTensor> value = node.attributes().tensor("value");
        ElementType type = value.map(OnnxTensor::type).orElse(ElementType.FLOAT);
        Arg scalar = value.map(v -> e.reshape(v.constant(), List.of())).orElse(e.number(0, DType.FLOAT32));
        node.finish(0, e.broadcast(scalar, shape), type);
    }

    private static void range(NodeContext node) {
        Expressions e = new Expressions(node);
        DType dtype = e.dtype(node.arg(0));
        double start = number(node.constant(0, "start"));
        double limit = number(node.constant(1, "limit"));
        double delta = number(node.constant(2, "delta"));
        double count = Math.max(0, Math.ceil((limit - start) / delta));
        node.require(delta != 0 && count < MOST_ELEMENTS, "it has " + count + " elements", "a step that ends");
        Arg index = e.cast(e.places(Shape.of((int) count), i -> i), dtype);
        node.finish(e.add(e.multiply(index, delta), start));
    }

    private static double number(Constant constant) {
        return constant.type().dtype().isFloat() ? constant.real(0) : constant.integer(0);
    }

    /** A constant of 0 and 1. */
    private static Arg marks(Expressions e, int rows, int columns, IntBinaryPredicate isMarked) {
        return e.places(Shape.of(rows, columns), i -> isMarked.test(i / columns, i % columns) ? 1 : 0);
    }

    private interface IntBinaryPredicate {
        boolean test(int row, int column);
    }

    private static void eyeLike(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        node.require(shape.rank() == 2 && shape.elements() < MOST_ELEMENTS, "its data is " + shape.text(), "a matrix");
        long k = node.attributes().whole("k", 0);
        ElementType type = node.attributes()
                .whole("dtype")
                .map(code -> ElementType.ofCode(code.intValue()).orElse(ElementType.UNDEFINED))
                .orElse(node.element(0));
        DType held = type.held().orElseThrow(() -> node.failure("its dtype is " + type.text(), "numbers"));
        Arg marks = marks(e, shape.dim(0), shape.dim(1), (i, j) -> (long) j - i == k);
        node.finish(0, e.cast(marks, held), type);
    }

    /** Two values, the second where the index along a new axis is the data's; indices out of range give the first only. */
    private static void oneHot(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        double depth = number(node.constant(1, "depth"));
        node.require(depth >= 1 && depth < MOST_ELEMENTS, "its depth is " + depth, "a number above 0");
        int axis = node.axis(node.attributes().whole("axis", -1), shape.rank() + 1);
        List<Integer> dims = new ArrayList<>(shape.dims());
        dims.add(axis, 1);
        Arg index = e.cast(e.reshape(node.arg(0), dims), DType.INT32);
        Arg isNegative = e.binary(Binary.Kind.LESS, index, e.number(0, DType.INT32));
        Arg counted = e.where(isNegative, e.add(index, depth), index);
        Arg places = e.places(Expressions.along(dims.size(), axis, (int) depth), i -> i);
        Arg isHot = e.binary(Binary.Kind.EQUAL, counted, places);
        Arg off = e.reshape(e.slice(node.arg(2), 0, 0, 1), List.of());
        Arg on = e.reshape(e.slice(node.arg(2), 0, 1, 2), List.of());
        node.finish(0, e.where(isHot, on, off), node.element(2));
    }

    private static void trilu(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        node.require(shape.rank() >= 2, "its data is " + shape.text(), "matrices");
        long k = node.has(1) ? node.integers(1, "k").get(0) : 0;
        boolean isUpper = node.attributes().truth("upper", true);
        Arg marks = marks(e, shape.dim(-2), shape.dim(-1), (i, j) -> isUpper ? j - i >= k : j - i <= k);
        node.finish(e.where(e.cast(marks, DType.BOOL), node.arg(0), e.number(0, e.dtype(node.arg(0)))));
    }
}
