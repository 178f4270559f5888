// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.call;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * Keeps the last slots of a sequence that arrives one slot at a time (circular_buffer.cc of TensorFlow Lite Micro).
 * Arguments: data, int8 (1, 1, width, depth); the slots, a variable (1, slots, width, depth) from which the oldest is
 * removed while the new one is appended; a variable, an int32 vector of one element, which counts down the runs of a
 * period and begins with {@code cycles}.
 *
 * <p>The result, bool (1), tells whether a period is over: in each {@code cycles}-th run.
 *
 * @param cycles runs of a period, 1 or more
 */
public record CircularBuffer(int cycles) implements Op {
    /** Position of the slots among the arguments. */
    public static final int SLOTS = 1;

    /** Position of the number of remaining runs among the arguments. */
    public static final int LEFT = 2;

    @Override
    public String name() {
        return "tfl.circular_buffer";
    }

    @Override
    public int arity() {
        return 3;
    }

    @Override
    public List<Integer> writes() {
        return List.of(SLOTS, LEFT);
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("cycles_max", cycles);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.that(cycles > 0, "a period has " + cycles + " runs, not 1 or more");
        TensorType data = args.get(0);
        TensorType slots = args.get(SLOTS);
        Check.dtype("data", data, DType.INT8);
        Check.dtype("slots", slots, DType.INT8);
        Check.rank("data", data, 4);
        Check.rank("slots", slots, 4);
        Shape one = data.shape();
        Shape all = slots.shape();
        Check.that(
                one.dim(0) == 1 && one.dim(1) == 1 && all.dim(0) == 1,
                "data and slots must be of batch 1, and data one slot, not " + one.text() + " and " + all.text());
        Check.that(
                one.dim(2) == all.dim(2) && one.dim(3) == all.dim(3),
                "data " + one.text() + " are not a slot of " + all.text());
        Check.dtype("runs left", args.get(LEFT), DType.INT32);
        Check.that(
                args.get(LEFT).shape().equals(Shape.of(1)),
                "runs left must be one number, not " + args.get(LEFT).text());
        return new TensorType(Shape.of(1), DType.BOOL);
    }
}
