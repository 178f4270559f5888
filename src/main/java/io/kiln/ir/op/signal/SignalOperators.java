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

/** The operators of sampled signals: frames, windows, spectra, and what is kept from one call to the next. */
public final class SignalOperators {
    private SignalOperators() {}

    /**
     * Shifts samples left until the largest uses 15 bits (signal/src/fft_auto_scale.cc of TensorFlow Lite Micro).
     * Arguments: data, a vector of int16; a variable, an int32 scalar, which gets the number of bits.
     *
     * <p>The largest absolute value is an int16, computed sample by sample: -32768 makes it -32768, which any later sample
     * exceeds. If it is not positive, nothing is shifted. Values that no longer fit into int16 wrap around.
     */
    public record SignalAutoScale() implements Op {
        public static final Signature<SignalAutoScale> SIGNATURE = Signature.of(
                        SignalAutoScale.class, "tfl.signal_fft_auto_scale")
                .data("data", operand -> operand.rank(1), DType.INT16)
                .state("number of bits", Operand::scalar, DType.INT32)
                .attributes(SignalAutoScale::new)
                .traits()
                .same();

        @Override
        public Card<SignalAutoScale> card() {
            return SIGNATURE.of(this);
        }

        /** Position of the number of bits among the arguments. */
        public static final int BITS = SIGNATURE.position("number of bits");
    }

    /**
     * Delays each vector of a signal along the last axis; the delayed signal starts with zeros
     * (signal/micro/kernels/delay.cc of TensorFlow Lite Micro). Arguments: data, int16; the state, a variable: a vector of
     * {@code length} samples for each vector of the data, the oldest first.
     *
     * @param length number of samples, 1 or more
     */
    public record SignalDelay(int length) implements Op {
        public static final Signature<SignalDelay> SIGNATURE = Signature.of(SignalDelay.class, "tfl.signal_delay")
                .data("data", Operand::vectors, DType.INT16)
                .state("state", operand -> operand.holds(SignalDelay::state))
                .attributes(Attribute.whole("delay_length", SignalDelay::length, 1), SignalDelay::new)
                .traits()
                .same();

        @Override
        public Card<SignalDelay> card() {
            return SIGNATURE.of(this);
        }

        public SignalDelay {
            Check.that(length >= 1, "a delay takes 1 sample or more, not " + length);
        }

        public TensorType state(TensorType data) {
            long elements = data.shape().elements() / data.shape().dim(-1) * length;
            return new TensorType(Check.vector(elements), DType.INT16);
        }

        public static final int STATE = SIGNATURE.position("state");
    }

    /**
     * Squared absolute values of complex numbers (signal/src/energy.cc of TensorFlow Lite Micro): uint32, which wraps
     * around. Argument: data, a vector of int16, pairs of real and imaginary part. The result is 0 outside the range of
     * frequencies, where TensorFlow Lite Micro's kernel leaves the output unchanged.
     *
     * @param start first frequency of the range
     * @param end frequency after the last
     */
    public record SignalEnergy(int start, int end) implements Op {
        public static final Signature<SignalEnergy> SIGNATURE = Signature.of(SignalEnergy.class, "tfl.signal_energy")
                .data("data", operand -> operand.rank(1), DType.INT16)
                .attributes(
                        Attribute.whole("start_index", SignalEnergy::start, 0),
                        Attribute.whole("end_index", SignalEnergy::end, 0),
                        SignalEnergy::new)
                .traits()
                .result(SignalEnergy::result);

        @Override
        public Card<SignalEnergy> card() {
            return SIGNATURE.of(this);
        }

        public SignalEnergy {
            Check.that(
                    start >= 0 && start <= end,
                    "a range of frequencies from " + start + " to " + end + " is not valid");
        }

        private TensorType result(List<TensorType> args) {
            TensorType data = args.get(0);
            int elements = data.shape().dim(0);
            Check.that(
                    elements % 2 == 0, "data " + data.text() + " do not consist of pairs of real and imaginary part");
            Check.that(
                    end <= elements / 2,
                    "the range ends at " + end + ", beyond the last of " + elements / 2 + " frequencies");
            return new TensorType(Shape.of(elements / 2), DType.UINT32);
        }
    }

    /**
     * The discrete Fourier transform of each vector of real numbers along the last axis, or its inverse, computed as by
     * kiss_fftr of the library KISS FFT, which TensorFlow Lite Micro's signal/src/rfft.h and irfft.h use: a transform of
     * half as many complex numbers with radices 4 and, innermost, 2, and one more pass that separates even and odd samples.
     * A spectrum is length / 2 + 1 pairs of real and imaginary part. Argument: data, int16, int32 or float32.
     *
     * <p>Integers are fractions with 15 or 31 bits: each product is rounded; each pass first halves or quarters its data by
     * a product with 2^15 - 1 over 2 or 4, truncated to an integer; sums wrap around. An integer spectrum is therefore the
     * transform divided by the length; the inverse of float32 is divided by the length, that of integers is not.
     *
     * @param length samples in a transform, a power of two from {@link #SHORTEST} to {@link #LONGEST}; shorter vectors are
     * padded with 0
     * @param inverse whether samples are computed from a spectrum
     */
    public record SignalFft(int length, boolean inverse) implements Op {
        /** Fewest samples in a transform. */
        public static final int SHORTEST = 4;

        /** Most samples in a transform. */
        public static final int LONGEST = 1 << 15;

        public static final List<Signature<SignalFft>> SIGNATURES = List.of(signature(false), signature(true));

        private static Signature<SignalFft> signature(boolean inverse) {
            return Signature.of(SignalFft.class, inverse ? "tfl.signal_irfft" : "tfl.signal_rfft")
                    .data("data", Operand::vectors, DType.INT16, DType.INT32, DType.FLOAT32)
                    .attributes(
                            Attribute.whole("fft_length", SignalFft::length, SHORTEST, LONGEST),
                            length -> new SignalFft(length, inverse))
                    .traits()
                    .result(SignalFft::result);
        }

        @Override
        public Card<SignalFft> card() {
            return SIGNATURES.get(inverse ? 1 : 0).of(this);
        }

        public SignalFft {
            Check.that(
                    length >= SHORTEST && length <= LONGEST && Integer.bitCount(length) == 1,
                    "the length of a Fourier transform is a power of two from " + SHORTEST + " to " + LONGEST + ", not "
                            + length);
        }

        /** Elements of a spectrum, two for each frequency. */
        private int spectrum() {
            return length + 2;
        }

        private TensorType result(List<TensorType> args) {
            TensorType data = args.get(0);
            int elements = data.shape().dim(-1);
            Check.that(
                    inverse ? elements == spectrum() : elements <= length,
                    inverse
                            ? "the spectrum " + data.text() + " of " + length + " samples must have " + spectrum()
                                    + " elements in a vector"
                            : "vectors of " + data.text() + " have more than " + length + " samples");
            return new TensorType(data.shape().with(-1, inverse ? length : spectrum()), data.dtype());
        }
    }

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
                                        "vectors of " + type.text() + " are not a multiple of " + op.step
                                                + " samples")),
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

        public static final int STATE = SIGNATURE.position("state");
    }

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

        public TensorType state(TensorType data) {
            return new TensorType(Check.vector(data.shape().elements() * frames() + 1), DType.INT16);
        }
    }

    /**
     * Weighs the samples of each vector along the last axis: {@code (data * weight) >> shift}, saturated to int16
     * (signal/src/window.cc of TensorFlow Lite Micro). Arguments: data, int16; weights, int16, one for each sample of a
     * vector.
     *
     * @param shift 0 to 31
     */
    public record SignalWindow(int shift) implements Op {
        public static final Signature<SignalWindow> SIGNATURE = Signature.of(SignalWindow.class, "tfl.signal_window")
                .data("data", Operand::vectors, DType.INT16)
                .constant(
                        "weights",
                        operand -> operand.rank(1)
                                .fits((what, type, op, args) -> Check.that(
                                        type.shape().dim(0)
                                                == args.get(0).shape().dim(-1),
                                        "weights " + type.text() + " do not fit data "
                                                + args.get(0).text())),
                        DType.INT16)
                .attributes(Attribute.whole("shift", SignalWindow::shift, 0, Integer.SIZE - 1), SignalWindow::new)
                .traits()
                .same();

        @Override
        public Card<SignalWindow> card() {
            return SIGNATURE.of(this);
        }

        public SignalWindow {
            Check.that(shift >= 0 && shift < Integer.SIZE, "a window takes a shift from 0 to 31, not " + shift);
        }
    }
}
