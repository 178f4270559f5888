// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import static java.util.Map.entry;

import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.Constants;
import io.kiln.frontend.relay.value.Rule;
import io.kiln.frontend.relay.value.Value;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** Operators that copy elements, look them up or fill tensors with them. */
final class MovementRules {
    static final Map<String, Rule> ALL = Map.ofEntries(
            entry("annotation.cast_hint", MovementRules::same),
            entry("annotation.stop_fusion", MovementRules::same),
            entry("broadcast_to", ElementRules::broadcast),
            entry("concatenate", MovementRules::concatenate),
            entry("expand_dims", ShapeRules::expand),
            entry("full", ElementRules::full),
            entry("layout_transform", ShapeRules::layoutTransform),
            entry("nn.batch_flatten", ShapeRules::flatten),
            entry("nn.pad", PoolRules::pad),
            entry("ones", call -> ElementRules.filled(call, 1)),
            entry("ref_read", MovementRules::variable),
            entry("reshape", ShapeRules::reshape),
            entry("qnn.concatenate", MovementRules::rescaledAndConcatenated),
            entry("squeeze", ShapeRules::squeeze),
            entry("strided_slice", MovementRules::slice),
            entry("transpose", ShapeRules::transpose),
            entry("zeros", call -> ElementRules.filled(call, 0)));

    private MovementRules() {}

    /** {@code concatenate} of its arguments. */
    private static Value concatenate(CallSite call) {
        return call.compute(new Concatenate(axis(call), call.args().size()));
    }

    private static int axis(CallSite call) {
        int axis = call.attributes().integer("axis", -8, 7, 0);
        return axis < 0 ? axis + call.value(0).type().shape().rank() : axis;
    }

    /**
     * {@code qnn.concatenate} of tensors, their scales, their zero points, and scale and zero point of the result: a tensor of another
     * scale or zero point is rescaled first, as {@code qnn.requantize} does by default.
     */
    private static Value rescaledAndConcatenated(CallSite call) {
        int count = (call.args().size() - 2) / 3;
        if (count < 1 || call.args().size() != 3 * count + 2) {
            throw new IllegalArgumentException(
                    "it takes as many scales and zero points as tensors, then those of the result");
        }
        List<Constant> to = List.of(call.constant(3 * count), call.constant(3 * count + 1));
        List<Arg> parts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Arg part = call.plain(i);
            List<Constant> from = List.of(call.constant(count + i), call.constant(2 * count + i));
            QnnRequantize rescaling =
                    new QnnRequantize(-1, Rounding.UPWARD, call.type(part).dtype());
            parts.add(
                    areEqual(from, to)
                            ? part
                            : call.emit(rescaling, List.of(part, from.get(0), from.get(1), to.get(0), to.get(1))));
        }
        Arg result = call.emit(new Concatenate(axis(call), count), parts);
        return Value.plain(result, call.type(result));
    }

    private static boolean areEqual(List<Constant> from, List<Constant> to) {
        return Constants.number(from.get(0)) == Constants.number(to.get(0))
                && Constants.number(from.get(1)) == Constants.number(to.get(1));
    }

    /**
     * {@code strided_slice} along its axes, or along the first dimensions if it names none. Strides that are missing are 1; with {@code
     * slice_mode="size"} the ends are sizes, and there are no strides.
     */
    private static Value slice(CallSite call) {
        call.arity(1);
        Shape shape = call.value(0).type().shape();
        Attributes attributes = call.attributes();
        List<Integer> begin = attributes.integers("begin", Integer.MIN_VALUE, Integer.MAX_VALUE);
        List<Integer> end = attributes.integers("end", Integer.MIN_VALUE, Integer.MAX_VALUE);
        List<Integer> strides = attributes.integers("strides", Integer.MIN_VALUE, Integer.MAX_VALUE, List.of());
        List<Integer> axes = attributes.integers("axes", -shape.rank(), Math.max(0, shape.rank() - 1), List.of());
        boolean isSizes =
                attributes.choiceOr("slice_mode", "end", "end", "size").equals("size");
        int count = axes.isEmpty() ? Math.max(begin.size(), end.size()) : axes.size();
        if (count > shape.rank() || begin.size() > count || end.size() > count || strides.size() > count) {
            throw new IllegalArgumentException("begin " + begin + ", end " + end + ", strides " + strides + " and axes "
                    + axes + " do not fit " + shape.text());
        }
        List<Integer> from = new ArrayList<>(Collections.nCopies(shape.rank(), 0));
        List<Integer> to = new ArrayList<>(shape.dims());
        List<Integer> steps = new ArrayList<>(Collections.nCopies(shape.rank(), 1));
        for (int i = 0; i < count; i++) {
            int axis = axes.isEmpty() ? i : Math.floorMod(axes.get(i), shape.rank());
            int step = isSizes || i >= strides.size() ? 1 : strides.get(i);
            int last = step < 0 ? -shape.dim(axis) - 1 : shape.dim(axis);
            steps.set(axis, step);
            from.set(axis, i < begin.size() ? begin.get(i) : step < 0 ? shape.dim(axis) - 1 : 0);
            to.set(axis, i >= end.size() || (isSizes && end.get(i) < 0) ? last : end.get(i));
            if (isSizes && i < end.size() && end.get(i) >= 0) {
                to.set(axis, from.get(axis) + end.get(i));
            }
        }
        return call.compute(new StridedSlice(from, to, steps));
    }

    /** The value that a variable has then: Kiln's operators take the variable itself. */
    private static Value variable(CallSite call) {
        call.arity(1);
        return call.value(0);
    }

    /** A hint for TVM's compiler that does not change the value. */
    private static Value same(CallSite call) {
        call.attributes().ignoreOthers();
        return call.value(0);
    }
}
