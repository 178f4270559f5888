// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import io.kiln.base.DType;
import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.Constants;
import io.kiln.frontend.relay.value.Layouts;
import io.kiln.frontend.relay.value.Value;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.FixedPointMultiply;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** TVM's products with 31-bit fixed-point numbers. */
final class FixedPointRules {
    private static final int FRACTION_BITS = 31;

    private FixedPointRules() {}

    /** {@code fixed_point_multiply}: the shift is to the left. */
    static Value perTensor(CallSite call) {
        if (call.args().size() == FixedPointMultiply.SHIFT + 1) {
            String rounding = call.attributes().choice("rounding", "UPWARD", "TONEAREST");
            return call.compute(new FixedPointMultiply(Rounding.valueOf(rounding)));
        }
        call.arity(1);
        int multiplier = call.attributes().integer("multiplier", Integer.MIN_VALUE, Integer.MAX_VALUE);
        int left = call.attributes().integer("shift", -FRACTION_BITS, FRACTION_BITS - 1);
        Value data = Layouts.whole(call, call.value(0));
        Arg result = call.emit(
                new FixedPointMultiply(Rounding.UPWARD),
                List.of(data.arg(), Constant.scalar(multiplier), Constant.scalar(FRACTION_BITS - left)));
        return data.with(result, data.type());
    }

    /** {@code fixed_point_multiply_per_axis}. */
    static Value perAxis(CallSite call) {
        call.arity(4);
        Value data = Layouts.whole(call, call.value(0));
        int rank = data.type().shape().rank();
        boolean shiftsLeft = call.attributes().truth("is_lshift_required", false);
        call.attributes().truth("is_rshift_required", false);
        List<Integer> axes = call.attributes().integers("axes", -rank, Math.max(0, rank - 1), 1);
        if (rank == 0 || axes.size() != 1) {
            throw new IllegalArgumentException("axes " + axes + " are not one of the data's");
        }
        int given = axes.get(0) < 0 ? axes.get(0) + rank : axes.get(0);
        int axis = data.channelsLast() ? DenseRules.heldAxis(given) : given;
        if (data.flattened().isPresent()) {
            data = Value.plain(Layouts.plain(call, data), data.type());
        }
        int channels = call.type(data.arg()).shape().dim(axis);
        List<Constant> vectors =
                List.of(vector(call, 1, channels), vector(call, 2, channels), vector(call, 3, channels));
        List<Integer> dims = new ArrayList<>(Collections.nCopies(rank, 1));
        dims.set(axis, channels);
        TensorType type = new TensorType(axis == rank - 1 ? Shape.of(channels) : new Shape(dims), DType.INT32);
        Constant shift = Constants.of("", type, i -> {
            long left = shiftsLeft ? vectors.get(1).integer(i) : 0;
            return FRACTION_BITS + vectors.get(2).integer(i) - left;
        });
        Arg result = call.emit(
                new FixedPointMultiply(Rounding.UPWARD),
                List.of(data.arg(), Constants.of("", type, i -> vectors.get(0).integer(i)), shift));
        return data.with(result, data.type());
    }

    private static Constant vector(CallSite call, int argument, int channels) {
        Constant constant = call.constant(argument);
        if (constant.elements() != channels || constant.type().dtype() != DType.INT32) {
            throw new IllegalArgumentException("argument " + (argument + 1) + " is "
                    + constant.type().text() + ": expected int32 with " + channels + " elements");
        }
        return constant;
    }
}
