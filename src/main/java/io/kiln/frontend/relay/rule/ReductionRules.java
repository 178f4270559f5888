// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.Rule;
import io.kiln.frontend.relay.value.Value;
import io.kiln.ir.Arg;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Operators that reduce dimensions, or normalise along the last one. */
final class ReductionRules {
    static final Map<String, Rule> ALL = all();

    private ReductionRules() {}

    private static Map<String, Rule> all() {
        Map<String, Rule> all = new HashMap<>();
        for (Reduce.Kind kind : Reduce.Kind.values()) {
            all.put(kind.text(), call -> reduce(call, kind));
        }
        all.put("argmax", call -> index(call, true));
        all.put("argmin", call -> index(call, false));
        return Map.copyOf(all);
    }

    /** {@code sum}, {@code mean}, {@code max}, {@code min}; without axes, over all dimensions. */
    private static Value reduce(CallSite call, Reduce.Kind kind) {
        call.arity(1);
        List<Integer> axes = axes(call);
        Op op = new Reduce(kind, axes, call.attributes().truth("keepdims", false));
        Arg result = call.emit(op, List.of(call.plain(0)));
        return Value.plain(result, call.type(result));
    }

    /** {@code argmax}, {@code argmin}: along one axis; ties go to the first. */
    private static Value index(CallSite call, boolean largest) {
        call.arity(1);
        List<Integer> axes = axes(call);
        boolean keeps = call.attributes().truth("keepdims", false);
        if (axes.size() != 1) {
            throw new IllegalArgumentException("the axes " + axes + " are not one");
        }
        if (call.attributes().truth("select_last_index", false)) {
            throw new IllegalArgumentException("select_last_index is not supported");
        }
        Arg result = call.emit(new ArgReduce(largest, axes.get(0)), List.of(call.plain(0)));
        if (keeps) {
            List<Integer> dims = new ArrayList<>(call.value(0).type().shape().dims());
            dims.set(axes.get(0), 1);
            result = call.emit(new Reshape(new Shape(dims)), List.of(result));
        }
        return Value.plain(result, call.type(result));
    }

    private static List<Integer> axes(CallSite call) {
        int rank = call.value(0).type().shape().rank();
        List<Integer> all = IntStream.range(0, rank).boxed().toList();
        List<Integer> given = call.attributes().integers("axis", -rank, Math.max(0, rank - 1), all).stream()
                .map(axis -> axis < 0 ? axis + rank : axis)
                .sorted()
                .distinct()
                .toList();
        boolean excludes = call.attributes().truth("exclude", false);
        return excludes ? all.stream().filter(axis -> !given.contains(axis)).toList() : given;
    }
}
