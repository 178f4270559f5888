// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Operand;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;

/**
 * Splits a signal that arrives in pieces into overlapping frames (signal/micro/kernels/framer.cc of TensorFlow Lite
 * Micro): each {@code step} samples of each vector along the last axis end one frame of {@code size} samples.
 * Arguments: data, int16; a variable, a bool scalar, which tells whether all frames are complete; the state, a
 * variable: a vector of {@link #history} samples for each vector of the data, the oldest first, then the number of
 * frames begun before, up to the number that matters.
 *
 * <p>A frame is the first {@code size} of the last {@code history + step} samples. Frames for which too few samples
 * have arrived are all 0.
 *
 * @param size samples in a frame
 * @param step samples between the starts of frames, at most {@code size}
 * @param prefill whether the first samples were preceded by zeros, so that every frame is complete
 */
public record SignalFrame(int size, int step, boolean prefill) implements Op {
    public static final Signature<SignalFrame> SIGNATURE = Signature.of(SignalFrame.class, "tfl.signal_framer")
            .data(
                    "data",
                    operand -> operand.vectors()
                            .fits((what, type, op, args) -> Check.that(
                                    type.shape().dim(-1) % op.step == 0,
                                    "vectors of " + type.text() + " are not a multiple of " + op.step + " samples")),
                    DType.INT16)
            .state("validity", Operand::scalar, DType.BOOL)
            .state("state", operand -> operand.holds(SignalFrame::state))
            .attributes(
                    Attribute.whole("frame_size", SignalFrame::size, 1),
                    Attribute.whole("frame_step", SignalFrame::step, 1),
                    Attribute.flag("prefill", SignalFrame::prefill),
                    SignalFrame::new)
            .traits()
            .result(SignalFrame::result);

    @Override
    public Card<SignalFrame> card() {
        return SIGNATURE.of(this);
    }

    /** Position of the flag among the arguments. */
    public static final int VALID = SIGNATURE.position("validity");

    /** Position of the state among the arguments. */
    public static final int STATE = SIGNATURE.position("state");

    private static final int LARGEST = 1 << 24;

    public SignalFrame {
        Check.that(
                step >= 1 && step <= size && size <= LARGEST,
                "a frame of " + size + " samples cannot follow another by " + step);
        Check.that(
                prefill || size / step < Short.MAX_VALUE,
                "a frame of " + size + " samples has too many steps of " + step);
    }

    /** Number of earlier samples of a vector that are kept. */
    public int history() {
        return prefill ? size - step : missing() * step;
    }

    /** Number of frames begun before one is complete. */
    public int missing() {
        return prefill ? 0 : (size - 1) / step;
    }

    /** Type of the state for the data. */
    public TensorType state(TensorType data) {
        long elements = data.shape().elements() / data.shape().dim(-1) * history() + 1;
        return new TensorType(Check.vector(elements), DType.INT16);
    }

    private TensorType result(List<TensorType> args) {
        List<Integer> dims = new ArrayList<>(args.get(0).shape().dims());
        dims.set(dims.size() - 1, dims.get(dims.size() - 1) / step);
        dims.add(size);
        return new TensorType(new Shape(dims), DType.INT16);
    }
}
