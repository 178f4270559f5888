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
import java.util.List;

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

    /** That of the transform, that of its inverse. */
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
