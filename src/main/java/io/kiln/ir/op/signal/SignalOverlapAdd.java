// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

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

/**
 * Adds overlapping frames to a signal (signal/src/overlap_add.cc of TensorFlow Lite Micro). Arguments: data, int16 or
 * float32, of shape (.., frames, samples); the state, a variable: the sums so far, as many samples as one frame of each
 * signal has. Sums of int16 saturate frame by frame.
 *
 * @param step samples between the starts of frames; the number of samples of the signal that each frame completes
 */
public record SignalOverlapAdd(int step) implements Op {
    public static final Signature<SignalOverlapAdd> SIGNATURE = Signature.of(
                    SignalOverlapAdd.class, "tfl.signal_overlap_add")
            .data(
                    "data",
                    operand -> operand.vectors().fits((what, type, op, args) -> op.fitFrames(type)),
                    DType.INT16,
                    DType.FLOAT32)
            .state("state", operand -> operand.holds(SignalOverlapAdd::state))
            .attributes(Attribute.whole("frame_step", SignalOverlapAdd::step, 1), SignalOverlapAdd::new)
            .traits()
            .result(SignalOverlapAdd::result);

    @Override
    public Card<SignalOverlapAdd> card() {
        return SIGNATURE.of(this);
    }

    public SignalOverlapAdd {
        Check.that(step >= 1, "frames follow each other by 1 sample or more, not " + step);
    }

    /** Type of the state for the data. */
    public TensorType state(TensorType data) {
        return new TensorType(
                Check.vector(data.shape().elements() / data.shape().dim(-2)), data.dtype());
    }

    private TensorType result(List<TensorType> args) {
        Shape data = args.get(0).shape();
        List<Integer> dims = new ArrayList<>(data.dims().subList(0, data.rank() - 2));
        dims.add(Check.vector((long) data.dim(-2) * step).dim(0));
        return new TensorType(new Shape(dims), args.get(0).dtype());
    }

    private void fitFrames(TensorType data) {
        Check.that(data.shape().rank() >= 2, "data " + data.text() + " do not have a dimension of frames");
        Check.that(
                step <= data.shape().dim(-1),
                "frames of " + data.text() + " are shorter than the step from one to the next, " + step);
    }

    /** Position of the state among the arguments. */
    public static final int STATE = SIGNATURE.position("state");
}
