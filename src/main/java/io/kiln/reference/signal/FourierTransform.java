// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.signal;

import io.kiln.ir.arith.FourierRoots;
import io.kiln.ir.op.signal.SignalOperators.SignalFft;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.IntFunction;

/**
 * {@link SignalFft} by recursion: a transform is combined from those of every fourth number, or every second if four is
 * not a divisor.
 *
 * @param <N> type of numbers
 */
final class FourierTransform<N> {
    private record Complex<N>(N real, N imaginary) {}

    private final FourierNumbers<N> numbers;
    private final N zero;
    private final int points;
    private final boolean inverse;

    /**
     * A transform.
     *
     * @param points number of complex numbers, half the number of samples
     */
    private FourierTransform(FourierNumbers<N> numbers, int points, boolean inverse) {
        this.numbers = numbers;
        this.zero = numbers.of(0);
        this.points = points;
        this.inverse = inverse;
    }

    static Tensor run(SignalFft op, List<Tensor> args, TensorType type) {
        Tensor data = args.get(0);
        int points = op.length() / 2;
        if (type.dtype().isFloat()) {
            FourierTransform<Float> transform =
                    new FourierTransform<>(new FourierNumbers.Floats(), points, op.inverse());
            List<Float> values = transform.vectors(data, i -> data.floats()[i]);
            float[] result = new float[values.size()];
            for (int i = 0; i < result.length; i++) {
                result[i] = op.inverse() ? values.get(i) / op.length() : values.get(i);
            }
            return Tensor.of(type, result);
        }
        FourierNumbers<Long> fractions =
                new FourierNumbers.Fractions(Byte.SIZE * type.dtype().bytes() - 1);
        List<Long> values =
                new FourierTransform<>(fractions, points, op.inverse()).vectors(data, i -> (long) data.ints()[i]);
        return Tensor.of(type, values.stream().mapToInt(Long::intValue).toArray());
    }

    private List<N> vectors(Tensor data, IntFunction<N> element) {
        int length = data.shape().dim(-1);
        List<N> results = new ArrayList<>();
        for (int at = 0; at < data.shape().elements(); at += length) {
            List<N> vector = new ArrayList<>();
            for (int i = 0; i < length; i++) {
                vector.add(element.apply(at + i));
            }
            vector.addAll(Collections.nCopies(Math.max(0, 2 * points - length), zero));
            List<Complex<N>> pairs = new ArrayList<>();
            for (int i = 0; i < vector.size(); i += 2) {
                pairs.add(new Complex<>(vector.get(i), vector.get(i + 1)));
            }
            for (Complex<N> value : inverse ? transform(joined(pairs)) : parted(transform(pairs))) {
                results.add(value.real);
                results.add(value.imaginary);
            }
        }
        return results;
    }

    /** The transform of a power of two of numbers. */
    private List<Complex<N>> transform(List<Complex<N>> data) {
        int size = data.size();
        if (size == 1) {
            return data;
        }
        int radix = size % 4 == 0 ? 4 : 2;
        int step = size / radix;
        List<List<Complex<N>>> parts = new ArrayList<>();
        for (int r = 0; r < radix; r++) {
            List<Complex<N>> every = new ArrayList<>();
            for (int i = r; i < size; i += radix) {
                every.add(data.get(i));
            }
            parts.add(transform(every));
        }
        List<Complex<N>> result = new ArrayList<>(Collections.nCopies(size, new Complex<>(zero, zero)));
        for (int k = 0; k < step; k++) {
            List<Complex<N>> turned = new ArrayList<>();
            for (int r = 0; r < radix; r++) {
                Complex<N> part = part(parts.get(r).get(k), radix);
                turned.add(
                        // The root is 1: its product with an infinite float would be none.
                        r == 0 || k == 0
                                ? part
                                : product(
                                        part, root(FourierRoots.passPhase(r * k * (points / size), points, inverse))));
            }
            List<Complex<N>> combined = radix == 4 ? four(turned) : two(turned);
            for (int r = 0; r < radix; r++) {
                result.set(r * step + k, combined.get(r));
            }
        }
        return result;
    }

    private List<Complex<N>> two(List<Complex<N>> a) {
        return List.of(sum(a.get(0), a.get(1)), difference(a.get(0), a.get(1)));
    }

    private List<Complex<N>> four(List<Complex<N>> a) {
        Complex<N> even = sum(a.get(0), a.get(2));
        Complex<N> evenRest = difference(a.get(0), a.get(2));
        Complex<N> odd = sum(a.get(1), a.get(3));
        Complex<N> oddRest = difference(a.get(1), a.get(3));
        Complex<N> quarter = inverse
                ? new Complex<>(numbers.negative(oddRest.imaginary), oddRest.real)
                : new Complex<>(oddRest.imaginary, numbers.negative(oddRest.real));
        return List.of(sum(even, odd), sum(evenRest, quarter), difference(even, odd), difference(evenRest, quarter));
    }

    /** The spectrum of real numbers from the transform of their pairs. */
    private List<Complex<N>> parted(List<Complex<N>> pairs) {
        List<Complex<N>> result = new ArrayList<>(Collections.nCopies(points + 1, new Complex<>(zero, zero)));
        Complex<N> first = part(pairs.get(0), 2);
        result.set(0, new Complex<>(numbers.sum(first.real, first.imaginary), zero));
        result.set(points, new Complex<>(numbers.difference(first.real, first.imaginary), zero));
        for (int k = 1; k <= points / 2; k++) {
            Complex<N> low = part(pairs.get(k), 2);
            Complex<N> high = part(conjugate(pairs.get(points - k)), 2);
            Complex<N> even = sum(low, high);
            Complex<N> odd = product(difference(low, high), splitRoot(k));
            result.set(
                    k,
                    new Complex<>(
                            numbers.halfSum(even.real, odd.real), numbers.halfSum(even.imaginary, odd.imaginary)));
            result.set(
                    points - k,
                    new Complex<>(
                            numbers.halfDifference(even.real, odd.real),
                            numbers.halfDifference(odd.imaginary, even.imaginary)));
        }
        return result;
    }

    /** The transform of pairs of real numbers from their spectrum. */
    private List<Complex<N>> joined(List<Complex<N>> spectrum) {
        List<Complex<N>> result = new ArrayList<>(Collections.nCopies(points, new Complex<>(zero, zero)));
        N first = spectrum.get(0).real;
        N last = spectrum.get(points).real;
        result.set(0, part(new Complex<>(numbers.sum(first, last), numbers.difference(first, last)), 2));
        for (int k = 1; k <= points / 2; k++) {
            Complex<N> low = part(spectrum.get(k), 2);
            Complex<N> high = part(conjugate(spectrum.get(points - k)), 2);
            Complex<N> even = sum(low, high);
            Complex<N> odd = product(difference(low, high), splitRoot(k));
            result.set(k, sum(even, odd));
            result.set(points - k, conjugate(difference(even, odd)));
        }
        return result;
    }

    private Complex<N> splitRoot(int k) {
        return root(FourierRoots.splitPhase(k, points, inverse));
    }

    private Complex<N> root(double phase) {
        return new Complex<>(numbers.of(FourierRoots.real(phase)), numbers.of(FourierRoots.imaginary(phase)));
    }

    private Complex<N> part(Complex<N> a, int radix) {
        return new Complex<>(numbers.part(a.real, radix), numbers.part(a.imaginary, radix));
    }

    private Complex<N> product(Complex<N> a, Complex<N> b) {
        return new Complex<>(
                numbers.products(a.real, b.real, a.imaginary, numbers.negative(b.imaginary)),
                numbers.products(a.real, b.imaginary, a.imaginary, b.real));
    }

    private Complex<N> sum(Complex<N> a, Complex<N> b) {
        return new Complex<>(numbers.sum(a.real, b.real), numbers.sum(a.imaginary, b.imaginary));
    }

    private Complex<N> difference(Complex<N> a, Complex<N> b) {
        return new Complex<>(numbers.difference(a.real, b.real), numbers.difference(a.imaginary, b.imaginary));
    }

    private Complex<N> conjugate(Complex<N> a) {
        return new Complex<>(a.real, numbers.negative(a.imaginary));
    }

    /**
     * The arithmetic of a Fourier transform: floats, or fractions of 15 or 31 bits in int16 or int32.
     *
     * @param <N> type of numbers
     */
    private interface FourierNumbers<N> {
        /** A number from -1 to 1. */
        N of(double value);

        /** {@code a * b + c * d}; fractions are rounded once. */
        N products(N a, N b, N c, N d);

        /** An input of a pass; a fraction is divided by the pass's radix. */
        N part(N value, int radix);

        N sum(N a, N b);

        N negative(N value);

        /** Half of a sum; the sum wraps around in 32 bits only. */
        N halfSum(N a, N b);

        /** Half of a difference, with the same wrapping. */
        N halfDifference(N a, N b);

        default N difference(N a, N b) {
            return sum(a, negative(b));
        }

        /**
         * Fractions as integers; a sum of two products of 31 bits fits into 64.
         *
         * @param bits fraction bits, 15 or 31; sums wrap around in 16 or 32 bits
         */
        record Fractions(int bits) implements FourierNumbers<Long> {
            private long largest() {
                return (1L << bits) - 1;
            }

            @Override
            public Long of(double value) {
                return (long) FourierRoots.fraction(value, bits);
            }

            @Override
            public Long products(Long a, Long b, Long c, Long d) {
                return wrapped((a * b + c * d + (1L << (bits - 1))) >> bits);
            }

            @Override
            public Long part(Long value, int radix) {
                return products(value, largest() / radix, 0L, 0L);
            }

            @Override
            public Long sum(Long a, Long b) {
                return wrapped(a + b);
            }

            @Override
            public Long negative(Long value) {
                return wrapped(-value);
            }

            @Override
            public Long halfSum(Long a, Long b) {
                return (long) ((int) (a + b) >> 1);
            }

            @Override
            public Long halfDifference(Long a, Long b) {
                return (long) ((int) (a - b) >> 1);
            }

            private long wrapped(long value) {
                return bits == Short.SIZE - 1 ? (short) value : (int) value;
            }
        }

        /** Floats; each operation is rounded. */
        record Floats() implements FourierNumbers<Float> {
            @Override
            public Float of(double value) {
                return (float) value;
            }

            @Override
            public Float products(Float a, Float b, Float c, Float d) {
                return a * b + c * d;
            }

            @Override
            public Float part(Float value, int radix) {
                return value;
            }

            @Override
            public Float sum(Float a, Float b) {
                return a + b;
            }

            @Override
            public Float negative(Float value) {
                return -value;
            }

            @Override
            public Float halfSum(Float a, Float b) {
                return (a + b) / 2;
            }

            @Override
            public Float halfDifference(Float a, Float b) {
                return (a - b) / 2;
            }
        }
    }
}
