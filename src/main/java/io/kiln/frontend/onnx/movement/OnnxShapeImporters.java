// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Operators that change or compute shapes, without a change of the elements' order. */
final class OnnxShapeImporters {
    /** From these versions on, attributes are inputs. */
    private static final int RESHAPE_INPUT = 5;

    private static final int AXES_INPUT = 13;

    static final List<OnnxRegistration> ALL = List.of(
            onnx("Reshape", OnnxShapeImporters::reshape),
            onnx("Flatten", OnnxShapeImporters::flatten),
            onnx("Squeeze", OnnxShapeImporters::squeeze),
            onnx("Unsqueeze", OnnxShapeImporters::unsqueeze),
            onnx("Shape", OnnxShapeImporters::shape),
            onnx("Size", OnnxShapeImporters::size));

    private OnnxShapeImporters() {}

    private static void reshape(NodeContext node) {
        List<Long> stated = node.version() >= RESHAPE_INPUT
                ? node.integers(1, "shape")
                : node.attributes().requiredWholes("shape");
        boolean keepsZero = node.attributes().truth("allowzero", false);
        Shape data = node.shape(0);
        List<Integer> dims = new ArrayList<>();
        long known = 1;
        int open = -1;
        for (int i = 0; i < stated.size(); i++) {
            long dim = stated.get(i);
            boolean copies = dim == 0 && !keepsZero;
            boolean fits =
                    dim >= -1 && dim <= Integer.MAX_VALUE && !(dim == -1 && open >= 0) && !(copies && i >= data.rank());
            node.require(
                    fits, "its shape is " + stated, "sizes, at most one -1, and 0 for a dimension of " + data.text());
            open = dim == -1 ? i : open;
            dims.add(dim == -1 ? 1 : copies ? data.dim(i) : (int) dim);
            known = Math.min(known * dims.get(i), Integer.MAX_VALUE);
        }
        if (open >= 0) {
            node.require(known > 0, "its shape " + stated + " leaves a dimension open beside one of 0", "all sizes");
            dims.set(open, Math.toIntExact(data.elements() / known));
        }
        node.finish(new Expressions(node).reshape(node.arg(0), dims));
    }

    private static void flatten(NodeContext node) {
        Shape shape = node.shape(0);
        long stated = node.attributes().whole("axis", 1);
        int axis = stated == shape.rank() ? shape.rank() : node.axis(stated, shape.rank());
        int rows = shape.dims().subList(0, axis).stream().reduce(1, (a, b) -> a * b);
        int columns = shape.dims().subList(axis, shape.rank()).stream().reduce(1, (a, b) -> a * b);
        node.finish(new Expressions(node).reshape(node.arg(0), List.of(rows, columns)));
    }

    private static void squeeze(NodeContext node) {
        Shape shape = node.shape(0);
        List<Integer> axes = hasAxes(node)
                ? node.axes(axes(node), shape.rank())
                : IntStream.range(0, shape.rank())
                        .filter(i -> shape.dim(i) == 1)
                        .boxed()
                        .toList();
        node.require(
                axes.stream().allMatch(axis -> shape.dim(axis) == 1),
                "it removes the axes " + axes + " of " + shape.text(),
                "axes of size 1");
        List<Integer> dims = new ArrayList<>();
        IntStream.range(0, shape.rank()).filter(i -> !axes.contains(i)).forEach(i -> dims.add(shape.dim(i)));
        node.finish(new Expressions(node).reshape(node.arg(0), dims));
    }

    private static void unsqueeze(NodeContext node) {
        List<Integer> dims = new ArrayList<>(node.shape(0).dims());
        List<Long> stated = axes(node);
        for (int axis : node.axes(stated, dims.size() + stated.size())) {
            dims.add(axis, 1);
        }
        node.finish(new Expressions(node).reshape(node.arg(0), dims));
    }

    private static boolean hasAxes(NodeContext node) {
        return node.version() >= AXES_INPUT ? node.has(1) : node.attributes().has("axes");
    }

    private static List<Long> axes(NodeContext node) {
        return node.version() >= AXES_INPUT
                ? node.integers(1, "axes")
                : node.attributes().requiredWholes("axes");
    }

    private static void shape(NodeContext node) {
        Shape shape = node.shape(0);
        int begin = index(node.attributes().whole("start", 0), shape.rank());
        int end = index(node.attributes().whole("end", shape.rank()), shape.rank());
        List<Long> dims = shape.dims().subList(begin, Math.max(begin, end)).stream()
                .map(Long::valueOf)
                .toList();
        node.finish(0, new Expressions(node).longs(dims, Shape.of(dims.size())), ElementType.INT64);
    }

    private static int index(long stated, int rank) {
        return (int) Math.max(0, Math.min(stated < 0 ? stated + rank : stated, rank));
    }

    private static void size(NodeContext node) {
        List<Long> elements = List.of(node.shape(0).elements());
        node.finish(0, new Expressions(node).longs(elements, Shape.scalar()), ElementType.INT64);
    }
}
