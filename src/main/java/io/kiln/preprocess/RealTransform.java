// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess;

import java.util.List;

/**
 * The Fourier transform of real integers: a complex one of half the points, in place, halved in every stage, whose result is separated. The
 * C has the same steps.
 */
final class RealTransform {
    private final int half;
    private final List<Integer> twiddles;

    /**
     * A transform.
     *
     * @param twiddles of {@link PreprocessPlan}
     */
    RealTransform(List<Integer> twiddles) {
        this.half = twiddles.size() / 2;
        this.twiddles = twiddles;
    }

    /** Where a complex input has to lie: its index with its bits reversed. */
    int place(int index) {
        return Integer.reverse(index) >>> (Integer.numberOfLeadingZeros(half) + 1);
    }

    /**
     * Transforms.
     *
     * @param bins pairs of real inputs in bit-reversed places; afterwards real and imaginary parts of the bins from 0 to half the points
     */
    void run(int[] bins) {
        for (int span = 1; span < half; span *= 2) {
            int stride = half / span;
            for (int block = 0; block < half; block += 2 * span) {
                for (int k = 0; k < span; k++) {
                    butterfly(bins, 2 * (block + k), 2 * (block + k + span), 2 * k * stride);
                }
            }
        }
        separate(bins);
    }

    private void butterfly(int[] bins, int a, int b, int twiddle) {
        int re = bins[b];
        int im = bins[b + 1];
        if (twiddle != 0) {
            int cosine = twiddles.get(twiddle);
            int sine = twiddles.get(twiddle + 1);
            re = times(bins[b], cosine) + times(bins[b + 1], sine);
            im = times(bins[b + 1], cosine) - times(bins[b], sine);
        }
        bins[b] = (bins[a] - re + 1) >> 1;
        bins[b + 1] = (bins[a + 1] - im + 1) >> 1;
        bins[a] = (bins[a] + re + 1) >> 1;
        bins[a + 1] = (bins[a + 1] + im + 1) >> 1;
    }

    /** Even and odd samples, transformed as real and imaginary parts, become the bins of the whole. */
    private void separate(int[] bins) {
        int re0 = bins[0];
        int im0 = bins[1];
        bins[0] = re0 + im0;
        bins[1] = 0;
        bins[2 * half] = re0 - im0;
        bins[2 * half + 1] = 0;
        bins[half + 1] = -bins[half + 1];
        for (int k = 1; k < half / 2; k++) {
            int a = 2 * k;
            int b = 2 * (half - k);
            int evenRe = (bins[a] + bins[b]) >> 1;
            int evenIm = (bins[a + 1] - bins[b + 1]) >> 1;
            int oddRe = (bins[a + 1] + bins[b + 1]) >> 1;
            int oddIm = (bins[b] - bins[a]) >> 1;
            int re = times(oddRe, twiddles.get(a)) + times(oddIm, twiddles.get(a + 1));
            int im = times(oddIm, twiddles.get(a)) - times(oddRe, twiddles.get(a + 1));
            bins[a] = evenRe + re;
            bins[a + 1] = evenIm + im;
            bins[b] = evenRe - re;
            bins[b + 1] = im - evenIm;
        }
    }

    /** The product with a factor of 15 fraction bits, rounded. The C multiplies halves, because small cores have no long product. */
    static int times(int value, int factor) {
        return (int) FixedFactor.times(value, factor, 15);
    }
}
