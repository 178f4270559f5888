// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Limits;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * TFLite's quantized sum of two int8 values in the fewest instructions: {@code clamp((x * lhs + y * rhs + offset) >> shift)}.
 * There are 65,536 pairs, and equality with the reference is checked for each of them: {@link #of} accepts constants only if all pairs
 * give the same result and every step stays within 32 bits.
 *
 * @param lhs factor of the left operand
 * @param rhs factor of the right operand
 * @param offset zero points and rounding
 * @param shift bits to the right, at least 16
 * @param low least result
 * @param high largest result
 */
public record ProvenAdd(int lhs, int rhs, int offset, int shift, int low, int high) {
    private static final int LEAST_SHIFT = 16;
    private static final int MOST_SHIFT = 24;
    /** Bound of a sum of two sides: each is a difference of two bytes, shifted by at most 20 bits and scaled by at most 1. */
    private static final int MOST_SUM = 1 << 29;
    /** Factors are tried this far from their exact values. */
    private static final int REACH = 3;

    /** Constants for a fused int8 sum, or nothing where no constants give the reference's results. */
    public static Optional<ProvenAdd> of(FusedOperator op) {
        if (!(op.root().op() instanceof QnnAdd add)
                || add.rounding() != Rounding.TFLITE
                || op.requantization().isPresent()
                || op.type().dtype() != DType.INT8) {
            return Optional.empty();
        }
        float[] scales = new float[3];
        int[] zeroPoints = new int[3];
        for (int i = 0; i < 3; i++) {
            scales[i] = op.root().constant(2 + 2 * i).real(0);
            zeroPoints[i] = (int) op.root().constant(3 + 2 * i).integer(0);
        }
        TflAddParameters parameters = TflAddParameters.of(scales[0], scales[1], scales[2]);
        if (!parameters.isBelowOne()) {
            // The reference's left shift wraps, so that its results do not rise with the sum.
            return Optional.empty();
        }
        Limits limits = Limits.of(op);
        int low = (int) limits.low();
        int high = (int) limits.high();
        double lhs = (double) scales[0] / scales[2];
        double rhs = (double) scales[1] / scales[2];
        return find(new Search(results(parameters, zeroPoints, low, high), low, high), lhs, rhs);
    }

    /**
     * Constants for a table of all results, or nothing where no constants give them.
     *
     * @param results by {@code (x + 128) * 256 + y + 128}
     * @param lhs factor of the left operand before rounding
     * @param rhs factor of the right operand
     */
    static Optional<ProvenAdd> of(byte[] results, double lhs, double rhs) {
        return find(new Search(results, Byte.MIN_VALUE, Byte.MAX_VALUE), lhs, rhs);
    }

    private static Optional<ProvenAdd> find(Search search, double left, double right) {
        for (int shift = MOST_SHIFT; shift >= LEAST_SHIFT; shift--) {
            for (int i = 0; i < (2 * REACH + 1) * (2 * REACH + 1); i++) {
                double lhs = Math.rint(Math.scalb(left, shift)) + around(i / (2 * REACH + 1));
                double rhs = Math.rint(Math.scalb(right, shift)) + around(i % (2 * REACH + 1));
                if (Math.abs(lhs) > 1 << 24 || Math.abs(rhs) > 1 << 24) {
                    break;
                }
                Optional<ProvenAdd> found = search.with((int) lhs, (int) rhs, shift);
                if (found.isPresent()) {
                    return found;
                }
            }
        }
        return Optional.empty();
    }

    /** The distance of the n-th candidate from the exact factor: 0, 1, -1, 2, -2 … */
    private static int around(int index) {
        return index % 2 == 1 ? index / 2 + 1 : -(index / 2);
    }

    /**
     * The reference's results, by {@code (x + 128) * 256 + y + 128}. They rise with y, so that a row steps through the sums at which
     * the reference reaches each result.
     */
    private static byte[] results(TflAddParameters parameters, int[] zeroPoints, int low, int high) {
        int[] firstSums = new int[high - low];
        for (int i = 0; i < firstSums.length; i++) {
            firstSums[i] = firstSum(parameters, low + 1 + i - zeroPoints[2]);
        }
        int[] rights = IntStream.range(-128, 128)
                .map(y -> parameters.scaleRhs(y - zeroPoints[1]))
                .toArray();
        byte[] results = new byte[1 << 16];
        for (int x = -128; x < 128; x++) {
            int left = parameters.scaleLhs(x - zeroPoints[0]);
            int steps = 0;
            for (int y = 0; y < 256; y++) {
                int sum = left + rights[y];
                while (steps < firstSums.length && sum >= firstSums[steps]) {
                    steps++;
                }
                results[(x + 128) * 256 + y] = (byte) (low + steps);
            }
        }
        return results;
    }

    /** The least sum of two scaled sides whose result, without its zero point, reaches a value; past all sums if none does. */
    private static int firstSum(TflAddParameters parameters, int value) {
        int below = -MOST_SUM - 1;
        int reached = MOST_SUM + 1;
        while (reached - below > 1) {
            int middle = (below + reached) >> 1;
            if (parameters.scaleOutput(middle) >= value) {
                reached = middle;
            } else {
                below = middle;
            }
        }
        return reached;
    }

    /** Tries factors. Pairs that refused some mostly refuse the next ones too, and are tried first. */
    private static final class Search {
        private final byte[] results;
        private final int low;
        private final int high;
        private final Set<Integer> refusing = new LinkedHashSet<>();
        private int lhs;
        private int rhs;
        private int shift;
        private long least;
        private long most;
        private int leastPair;
        private int mostPair;

        Search(byte[] results, int low, int high) {
            this.results = results;
            this.low = low;
            this.high = high;
        }

        /** Looks for an offset that puts every pair into its step. */
        Optional<ProvenAdd> with(int lhs, int rhs, int shift) {
            this.lhs = lhs;
            this.rhs = rhs;
            this.shift = shift;
            long room = Integer.MAX_VALUE - 128L * Math.abs(lhs) - 128L * Math.abs(rhs);
            least = Integer.MIN_VALUE;
            most = Integer.MAX_VALUE;
            for (Iterator<Integer> pairs = refusing.iterator(); pairs.hasNext() && isOpen(room); ) {
                narrow(pairs.next());
            }
            for (int row = 0; row < 256 && isOpen(room); row++) {
                // Values far apart come first: most constants that do not suit them all fail in the first rows.
                int first = Integer.reverse(row) >>> 24 << 8;
                for (int pair = first; pair < first + 256; pair++) {
                    narrow(pair);
                }
            }
            if (!isOpen(room)) {
                refusing.add(leastPair);
                refusing.add(mostPair);
                return Optional.empty();
            }
            long offset = Math.floorDiv(least + most, 2);
            return Math.abs(offset) > room
                    ? Optional.empty()
                    : Optional.of(new ProvenAdd(lhs, rhs, (int) offset, shift, low, high));
        }

        /** Whether an offset is left that keeps every step within 32 bits. */
        private boolean isOpen(long room) {
            return least <= most && least <= room && most >= -room;
        }

        /** Leaves the offsets that give the reference's result for a pair. */
        private void narrow(int pair) {
            int result = results[pair];
            long sum = (long) ((pair >> 8) - 128) * lhs + (long) ((pair & 255) - 128) * rhs;
            if (result > low && ((long) result << shift) - sum > least) {
                least = ((long) result << shift) - sum;
                leastPair = pair;
            }
            if (result < high && ((result + 1L) << shift) - 1 - sum < most) {
                most = ((result + 1L) << shift) - 1 - sum;
                mostPair = pair;
            }
        }
    }

    /** The sum of two elements before it saturates. */
    Expr emit(List<Expr> values) {
        Expr left = Exprs.add(Exprs.mul(values.get(0), lhs), offset);
        return Exprs.shr(Exprs.add(left, Exprs.mul(values.get(1), rhs)), Exprs.imm(shift));
    }

    /** The sum of two values, as the kernels compute it. */
    int apply(int x, int y) {
        return FixedPoint.clamp((x * lhs + y * rhs + offset) >> shift, low, high);
    }
}
