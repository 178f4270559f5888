// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.reduce.TflCumsum;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Operators along one axis, seen as a sequence. */
final class OnnxSequenceImporters {
    static final List<OnnxRegistration> ALL = List.of(
            onnx("CumSum", OnnxSequenceImporters::cumSum),
            onnx("CumProd", 26, OnnxSequenceImporters::cumProd),
            onnx("ReverseSequence", OnnxSequenceImporters::reverseSequence));

    private OnnxSequenceImporters() {}

    private static void cumSum(NodeContext node) {
        int axis = node.axis(node.integers(1, "axis").get(0), node.shape(0).rank());
        TflCumsum sum = new TflCumsum(
                axis,
                node.attributes().truth("exclusive", false),
                node.attributes().truth("reverse", false));
        node.finish(node.emit(sum, node.arg(0), Constant.scalar(0)));
    }

    /**
     * Products of all elements up to each, or before it. After each step a product has twice as many factors, so that few operators compute
     * it; the order of the factors is not that of the elements.
     */
    private static void cumProd(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        int axis = node.axis(node.integers(1, "axis").get(0), shape.rank());
        boolean isReverse = node.attributes().truth("reverse", false);
        DType dtype = e.dtype(node.arg(0));
        Arg product = e.cast(node.arg(0), dtype.isWideUnsigned() ? DType.INT64 : dtype);
        if (node.attributes().truth("exclusive", false)) {
            product = moved(e, product, axis, 1, isReverse);
        }
        for (int step = 1; step < shape.dim(axis); step *= 2) {
            product = e.multiply(product, moved(e, product, axis, step, isReverse));
        }
        node.finish(e.cast(product, dtype));
    }

    /** The elements some places further on along an axis, or back, behind ones. */
    private static Arg moved(Expressions e, Arg data, int axis, int places, boolean isBack) {
        Shape shape = e.shape(data);
        List<Integer> dims = new ArrayList<>(shape.dims());
        dims.set(axis, places);
        Arg ones = e.broadcast(e.number(1, e.dtype(data)), new Shape(dims));
        Arg kept = isBack
                ? e.slice(data, axis, places, shape.dim(axis))
                : e.slice(data, axis, 0, shape.dim(axis) - places);
        return e.concatenate(isBack ? List.of(kept, ones) : List.of(ones, kept), axis);
    }

    /** For each batch, the first steps in reverse: step t of length n comes from n - 1 - t, others stay. */
    private static void reverseSequence(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        long time = node.attributes().whole("time_axis", 0);
        long batch = node.attributes().whole("batch_axis", 1);
        node.require(
                shape.rank() >= 2 && time + batch == 1 && time * batch == 0,
                "its time_axis and batch_axis are " + time + " and " + batch,
                "0 and 1, or 1 and 0");
        int axis = (int) time;
        Arg step = e.places(Expressions.along(2, axis, shape.dim(axis)), i -> i);
        Arg lengths = e.reshape(
                e.cast(node.arg(1), DType.INT32), axis == 0 ? List.of(1, shape.dim(1)) : List.of(shape.dim(0), 1));
        Arg isInside = e.binary(Binary.Kind.LESS, step, lengths);
        Arg source = e.where(isInside, e.add(e.subtract(lengths, step), -1), step);
        List<Integer> dims = new ArrayList<>(e.shape(source).dims());
        dims.addAll(Collections.nCopies(shape.rank() - 2, 1));
        Arg indices = e.broadcast(e.reshape(source, dims), shape);
        Arg flat = FlatIndices.ofElements(e, indices, shape, axis);
        node.finish(e.take(FlatIndices.flat(e, node.arg(0)), flat, 0));
    }
}
