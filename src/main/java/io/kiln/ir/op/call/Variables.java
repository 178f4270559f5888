// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.call;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;

/** The operators that change variables. */
public final class Variables {
    private Variables() {}

    /** Gives a variable a new value. Arguments: the variable, the value. */
    public record RefWrite() implements Op {
        public static final Signature<RefWrite> SIGNATURE = Signature.of(RefWrite.class, "ref_write")
                .state("variable")
                .data(
                        "value",
                        operand -> operand.fits((what, type, op, args) -> Check.that(
                                args.get(0).equals(type),
                                "a variable of " + args.get(0).text() + " cannot hold " + type.text())))
                .attributes(RefWrite::new)
                .nothing();

        @Override
        public Card<RefWrite> card() {
            return SIGNATURE.of(this);
        }
    }

    /**
     * Writes the newest slots of a sequence over its oldest ones, where they lie. Arguments: data (..., m, ...); the slots, a variable (..., n,
     * ...) with n a multiple of m; a variable, an int32 vector of one element: the place of the oldest slot, which moves on by m and begins
     * anew at n. A place that is not from 0 to n - m counts as the nearest that is.
     *
     * @param axis the dimension of the slots, from 0
     */
    public record RingWrite(int axis) implements Op {
        public static final Signature<RingWrite> SIGNATURE = Signature.of(RingWrite.class, "tfl.ring_write")
                .data("data")
                .state("slots", operand -> operand.fits((what, type, op, args) -> op.fit(args.get(0), type)))
                .state(
                        "place",
                        operand -> operand.fits((what, type, op, args) -> Check.that(
                                type.shape().equals(Shape.of(1)), "a place must be one number, not " + type.text())),
                        DType.INT32)
                .attributes(Attribute.whole("axis", RingWrite::axis, 0), RingWrite::new)
                .nothing();

        public static final int SLOTS = SIGNATURE.position("slots");
        public static final int PLACE = SIGNATURE.position("place");

        @Override
        public Card<RingWrite> card() {
            return SIGNATURE.of(this);
        }

        private void fit(TensorType data, TensorType slots) {
            Check.axis(slots, axis);
            List<Integer> expected = new ArrayList<>(slots.shape().dims());
            boolean isAlike = data.shape().rank() == expected.size();
            if (isAlike) {
                expected.set(axis, data.shape().dim(axis));
            }
            Check.that(
                    isAlike
                            && data.dtype() == slots.dtype()
                            && data.shape().dims().equals(expected)
                            && data.shape().elements() > 0
                            && slots.shape().dim(axis) % data.shape().dim(axis) == 0,
                    data.text() + " are not slots of " + slots.text() + " along axis " + axis);
        }
    }

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
        public static final Signature<CircularBuffer> SIGNATURE = Signature.of(
                        CircularBuffer.class, "tfl.circular_buffer")
                .data("data", operand -> operand.rank(4), DType.INT8)
                .state("slots", operand -> operand.rank(4), DType.INT8)
                .state(
                        "runs left",
                        operand -> operand.fits((what, type, op, args) -> Check.that(
                                type.shape().equals(Shape.of(1)), "runs left must be one number, not " + type.text())),
                        DType.INT32)
                .attributes(Attribute.whole("cycles_max", CircularBuffer::cycles, 1), CircularBuffer::new)
                .result(CircularBuffer::result);

        @Override
        public Card<CircularBuffer> card() {
            return SIGNATURE.of(this);
        }

        public static final int SLOTS = SIGNATURE.position("slots");

        /** Position of the number of remaining runs among the arguments. */
        public static final int LEFT = SIGNATURE.position("runs left");

        private TensorType result(List<TensorType> args) {
            Check.that(cycles > 0, "a period has " + cycles + " runs, not 1 or more");
            Shape one = args.get(0).shape();
            Shape all = args.get(SLOTS).shape();
            Check.that(
                    one.dim(0) == 1 && one.dim(1) == 1 && all.dim(0) == 1,
                    "data and slots must be of batch 1, and data one slot, not " + one.text() + " and " + all.text());
            Check.that(
                    one.dim(2) == all.dim(2) && one.dim(3) == all.dim(3),
                    "data " + one.text() + " are not a slot of " + all.text());
            return new TensorType(Shape.of(1), DType.BOOL);
        }
    }
}
