// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.Value;
import io.kiln.ir.Arg;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** {@code split}, whose result is a tuple: each part is a slice. */
public final class Split {
    public static final String NAME = "split";

    private Split() {}

    /** The parts: of equal size, or split at given positions. */
    public static List<Value> parts(CallSite call) {
        call.arity(1);
        Shape shape = call.value(0).type().shape();
        int given = call.attributes().integer("axis", -shape.rank(), Math.max(0, shape.rank() - 1), 0);
        if (shape.rank() == 0) {
            throw new IllegalArgumentException("a scalar has no parts");
        }
        int axis = given < 0 ? given + shape.rank() : given;
        List<Integer> ends = ends(call, shape.dim(axis));
        Arg data = call.plain(0);
        List<Value> parts = new ArrayList<>();
        int begin = 0;
        for (int end : ends) {
            List<Integer> from = new ArrayList<>(Collections.nCopies(shape.rank(), 0));
            List<Integer> to = new ArrayList<>(shape.dims());
            from.set(axis, begin);
            to.set(axis, end);
            Arg part = call.emit(new StridedSlice(from, to, Collections.nCopies(shape.rank(), 1)), List.of(data));
            parts.add(call.plain(part));
            begin = end;
        }
        return parts;
    }

    private static List<Integer> ends(CallSite call, int size) {
        List<Integer> ends = new ArrayList<>();
        if (call.attributes().isList("indices_or_sections")) {
            ends.addAll(call.attributes().integers("indices_or_sections", 1, size));
        } else {
            int sections = call.attributes().integer("indices_or_sections", 1, size);
            if (size % sections != 0) {
                throw new IllegalArgumentException(size + " elements have no " + sections + " equal parts");
            }
            for (int i = 1; i < sections; i++) {
                ends.add(size / sections * i);
            }
        }
        ends.add(size);
        if (!ends.equals(ends.stream().sorted().distinct().toList())) {
            throw new IllegalArgumentException("it is split at " + ends + ", which do not ascend");
        }
        return ends;
    }
}
