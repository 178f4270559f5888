// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** Operators that enlarge tensors: pads and repetitions. */
final class OnnxPadImporters {
    private static final int PAD_INPUTS = 11;
    private static final int TILE_INPUT = 6;
    private static final int MOST = 1 << 24;

    static final List<OnnxRegistration> ALL = List.of(
            onnx("Pad", OnnxPadImporters::pad),
            onnx("Expand", OnnxPadImporters::expand),
            onnx("Tile", OnnxPadImporters::tile));

    private OnnxPadImporters() {}

    private static void pad(NodeContext node) {
        Expressions e = new Expressions(node);
        int rank = node.shape(0).rank();
        List<Long> pads = node.version() >= PAD_INPUTS
                ? node.integers(1, "pads")
                : node.attributes().requiredWholes(node.attributes().has("paddings") ? "paddings" : "pads");
        List<Integer> axes = node.version() >= PAD_INPUTS && node.has(3)
                ? node.integers(3, "axes").stream().map(a -> node.axis(a, rank)).toList()
                : IntStream.range(0, rank).boxed().toList();
        node.require(
                pads.size() == 2 * axes.size() && pads.stream().allMatch(p -> Math.abs(p) < MOST),
                "its pads are " + pads,
                "two numbers for each of " + axes.size() + " axes");
        List<Integer> before = new ArrayList<>(Collections.nCopies(rank, 0));
        List<Integer> after = new ArrayList<>(Collections.nCopies(rank, 0));
        Arg data = node.arg(0);
        for (int i = 0; i < axes.size(); i++) {
            int axis = axes.get(i);
            int first = pads.get(i).intValue();
            int last = pads.get(axes.size() + i).intValue();
            int size = e.shape(data).dim(axis);
            node.require((long) size + first + last > 0, "its pads " + pads + " remove everything", "something left");
            data = e.slice(data, axis, Math.max(0, -first), size + Math.min(0, last));
            before.set(axis, Math.max(0, first));
            after.set(axis, Math.max(0, last));
        }
        node.finish(filled(node, e, data, before, after));
    }

    private static Arg filled(NodeContext node, Expressions e, Arg data, List<Integer> before, List<Integer> after) {
        String mode = node.attributes().text("mode", "constant");
        if (!mode.equals("constant")) {
            return copied(node, e, data, before, after, mode);
        }
        if (Collections.max(before) == 0 && Collections.max(after) == 0) {
            return data;
        }
        DType dtype = e.dtype(data);
        boolean isInput = node.version() >= PAD_INPUTS && node.has(2);
        Pad pad = new Pad(before, after);
        if (isInput && !(node.arg(2) instanceof Constant)) {
            return filledAtRun(node, e, data, pad);
        }
        Arg value = isInput
                ? e.reshape(node.constant(2, "constant_value"), List.of())
                : e.number(node.attributes().real("value", 0), dtype);
        return node.emit(pad, data, value);
    }

    /** The value around the data is computed when the model runs: it takes the place of zeros. */
    private static Arg filledAtRun(NodeContext node, Expressions e, Arg data, Pad pad) {
        Arg ones = e.broadcast(e.number(1, DType.INT8), e.shape(data));
        Arg isData = e.cast(node.emit(pad, ones, e.number(0, DType.INT8)), DType.BOOL);
        Arg padded = node.emit(pad, data, e.number(0, e.dtype(data)));
        return e.where(isData, padded, e.reshape(node.arg(2), List.of()));
    }

    /** Each axis by the indices of the elements that stand in for those outside. */
    private static Arg copied(
            NodeContext node, Expressions e, Arg data, List<Integer> before, List<Integer> after, String mode) {
        Arg value = data;
        for (int axis = 0; axis < before.size(); axis++) {
            int size = e.shape(data).dim(axis);
            if (before.get(axis) + after.get(axis) > 0) {
                int begin = before.get(axis);
                Shape indices = Shape.of(begin + size + after.get(axis));
                value = e.take(value, e.places(indices, i -> source(node, mode, i - begin, size)), axis);
            }
        }
        return value;
    }

    private static int source(NodeContext node, String mode, int index, int size) {
        return switch (mode) {
            case "edge" -> Math.max(0, Math.min(index, size - 1));
            case "wrap" -> Math.floorMod(index, size);
            case "reflect" -> {
                int period = Math.max(1, 2 * (size - 1));
                int folded = Math.floorMod(index, period);
                yield Math.min(folded, period - folded) % size;
            }
            default -> throw node.failure("its mode is `" + mode + "`", "constant, edge, reflect or wrap");
        };
    }

    private static void expand(NodeContext node) {
        List<Long> stated = node.integers(1, "shape");
        node.require(
                stated.stream().allMatch(d -> d >= 0 && d <= Integer.MAX_VALUE), "its shape is " + stated, "sizes");
        Expressions e = new Expressions(node);
        Shape shape = e.broadcastShape(
                node.shape(0), new Shape(stated.stream().map(Long::intValue).toList()));
        node.finish(e.broadcast(node.arg(0), shape));
    }

    /** The data repeated along each axis: broadcast along a new axis before it. Version 1 repeats along one axis. */
    private static void tile(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        List<Long> repeats;
        if (node.version() >= TILE_INPUT) {
            repeats = node.integers(1, "repeats");
        } else {
            repeats = new ArrayList<>(Collections.nCopies(shape.rank(), 1L));
            repeats.set(
                    node.axis(node.integers(2, "axis").get(0), shape.rank()),
                    node.integers(1, "tiles").get(0));
        }
        node.require(
                repeats.size() == shape.rank() && repeats.stream().allMatch(r -> r >= 0 && r < MOST),
                "its repeats are " + repeats,
                "a number for each axis of " + shape.text());
        Arg value = node.arg(0);
        for (int axis = 0; axis < shape.rank(); axis++) {
            value = repeated(e, value, axis, repeats.get(axis).intValue());
        }
        node.finish(value);
    }

    private static Arg repeated(Expressions e, Arg data, int axis, int count) {
        if (count == 1) {
            return data;
        }
        Shape shape = e.shape(data);
        List<Integer> parted = new ArrayList<>(shape.dims());
        parted.add(axis, 1);
        List<Integer> wide = new ArrayList<>(parted);
        wide.set(axis, count);
        List<Integer> joined = new ArrayList<>(shape.dims());
        joined.set(axis, (int) Math.min(Integer.MAX_VALUE, (long) shape.dim(axis) * count));
        return e.reshape(e.broadcast(e.reshape(data, parted), new Shape(wide)), joined);
    }
}
