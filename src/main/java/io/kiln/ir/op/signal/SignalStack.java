// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Operand;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.TensorType;

/**
 * Concatenates a frame with those before and after it (signal/micro/kernels/stacker.cc of TensorFlow Lite Micro).
 * Arguments: data, a vector of int16, one frame; a variable, a bool scalar, which tells whether there is a result; the
 * state, a variable: a vector of {@link #frames} frames, the oldest first, then a number: 0 before the first frame,
 * after it one more than the number of frames held.
 *
 * <p>The first frame also replaces the {@code left} frames before it. As soon as there are {@link #frames} frames, they
 * are the result, and the oldest {@code step} are dropped. The output is 0 if there is no result.
 *
 * @param left number of frames before
 * @param right number of frames after
 * @param step frames between results, 1 to {@link #frames}
 */
public record SignalStack(int left, int right, int step) implements Op {
    public static final Signature<SignalStack> SIGNATURE = Signature.of(SignalStack.class, "tfl.signal_stacker")
            .data("data", operand -> operand.rank(1), DType.INT16)
            .state("validity", Operand::scalar, DType.BOOL)
            .state("state", operand -> operand.holds(SignalStack::state))
            .attributes(
                    Attribute.whole("left_context", SignalStack::left, 0),
                    Attribute.whole("right_context", SignalStack::right, 0),
                    Attribute.whole("step", SignalStack::step, 1),
                    SignalStack::new)
            .traits()
            .result((op, args) ->
                    new TensorType(Check.vector(args.get(0).shape().elements() * op.frames()), DType.INT16));

    @Override
    public Card<SignalStack> card() {
        return SIGNATURE.of(this);
    }

    /** Position of the flag among the arguments. */
    public static final int VALID = SIGNATURE.position("validity");

    /** Position of the state among the arguments. */
    public static final int STATE = SIGNATURE.position("state");

    private static final int MOST = Short.MAX_VALUE - 1;

    public SignalStack {
        Check.that(
                left >= 0 && right >= 0 && left < MOST && right < MOST - left,
                left + " frames before and " + right + " after are too many or too few");
        Check.that(
                step >= 1 && step <= left + right + 1,
                "a step of " + step + " frames is not from 1 to " + (left + right + 1));
    }

    /** Number of frames in a result. */
    public int frames() {
        return left + right + 1;
    }

    /** Type of the state for the data. */
    public TensorType state(TensorType data) {
        return new TensorType(Check.vector(data.shape().elements() * frames() + 1), DType.INT16);
    }
}
