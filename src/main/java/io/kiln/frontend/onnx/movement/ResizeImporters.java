// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * {@code Resize} and {@code Upsample}: axis by axis, each element of the result is a sum of elements of the data with
 * weights that are known at build time.
 */
final class ResizeImporters {
    static final List<OnnxRegistration> ALL =
            List.of(onnx("Resize", 10, ResizeImporters::emit), onnx("Upsample", ResizeImporters::emit));

    private ResizeImporters() {}

    private static void emit(NodeContext node) {
        ResizePlan plan = ResizePlan.of(node);
        Expressions e = new Expressions(node);
        Arg value = node.arg(0);
        for (ResizeAxis axis : plan.axes()) {
            if (!axis.isIdentity(plan.style())) {
                value = axis.isSmoothed(plan.style())
                        ? smoothed(e, node, value, axis, plan.style())
                        : resized(e, node, value, axis, plan.style(), plan.outside());
            }
        }
        node.finish(value);
    }

    private static Arg smoothed(Expressions e, NodeContext node, Arg data, ResizeAxis axis, ResizeAxis.Style style) {
        node.require(
                List.of("linear", "cubic").contains(style.mode())
                        && !style.coordinates().equals("tf_crop_and_resize"),
                "it smooths (antialias) in the mode " + style.mode() + " with the positions " + style.coordinates(),
                "linear or cubic, without crops");
        e.tableOf(axis.in(), axis.out());
        List<Integer> order =
                new ArrayList<>(IntStream.range(0, e.shape(data).rank()).boxed().toList());
        Collections.swap(order, axis.axis(), order.size() - 1);
        Arg matrix = e.reals(axis.matrix(style), Shape.of(axis.in(), axis.out()));
        return e.transpose(e.product(e.transpose(data, order), matrix), order);
    }

    private static Arg resized(
            Expressions e, NodeContext node, Arg data, ResizeAxis axis, ResizeAxis.Style style, float outside) {
        List<ResizeAxis.Tap> taps;
        try {
            taps = axis.taps(style);
        } catch (IllegalArgumentException unknown) {
            throw node.failure(unknown.getMessage(), "a mode of ONNX's Resize");
        }
        List<Integer> line = new ArrayList<>(Collections.nCopies(e.shape(data).rank(), 1));
        line.set(axis.axis(), axis.out());
        Arg sum = null;
        for (ResizeAxis.Tap tap : taps) {
            Arg part = e.take(data, e.ints(tap.indices(), Shape.of(axis.out())), axis.axis());
            Arg weighted = style.isNearest() ? part : e.multiply(part, e.reals(tap.floats(), new Shape(line)));
            sum = sum == null ? weighted : e.add(sum, weighted);
        }
        List<Integer> inside = axis.inside(style);
        if (inside.contains(0)) {
            Arg isInside = e.cast(e.ints(inside, new Shape(line)), DType.BOOL);
            return e.where(isInside, sum, e.number(outside, e.dtype(sum)));
        }
        return sum;
    }
}
