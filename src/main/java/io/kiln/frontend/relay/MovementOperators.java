// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.ir.op.Concatenate;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.StridedSlice;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Operators that only copy elements, by their names in the text. */
final class MovementOperators {
    private static final int MAX = Integer.MAX_VALUE;
    private static final int MIN = Integer.MIN_VALUE;

    static final Map<String, Function<Attributes, Op>> ALL = Map.of("strided_slice", MovementOperators::slice);

    private MovementOperators() {}

    /** {@code concatenate} of the tensors that are its arguments. */
    static Value concatenate(CallSite call) {
        int axis = call.attributes().integer("axis", -8, 7, 0);
        int rank = call.value(0).type().shape().rank();
        return ArithmeticRules.plain(
                call, new Concatenate(axis < 0 ? axis + rank : axis, call.args().size()));
    }

    private static Op slice(Attributes a) {
        a.choice("slice_mode", "end");
        List<Integer> begin = a.integers("begin", MIN, MAX);
        List<Integer> ones = Collections.nCopies(begin.size(), 1);
        return new StridedSlice(begin, a.integers("end", MIN, MAX), a.integers("strides", MIN, MAX, ones));
    }
}
