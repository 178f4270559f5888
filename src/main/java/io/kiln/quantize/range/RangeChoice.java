// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.range;

/** Chooses the range of a value from its histogram. Every result lies in the histogram's range and holds 0. */
final class RangeChoice {
    private static final double OUTLIERS = 0.0001;
    private static final int STEPS = 100;
    private static final int LEVELS = 256;
    private static final double UNSEEN = 1e-9;

    private RangeChoice() {}

    static ValueRange choose(RangeMethod method, Histogram histogram) {
        ValueRange all = histogram.range();
        if (all.min() == all.max()) {
            return all;
        }
        return switch (method) {
            case MINMAX -> all;
            case PERCENTILE -> percentile(histogram);
            case MSE -> best(histogram, RangeChoice::squareError);
            case KL -> best(histogram, RangeChoice::divergence);
        };
    }

    private static ValueRange percentile(Histogram histogram) {
        long outside = (long) (histogram.total() * OUTLIERS);
        int low = 0;
        for (long seen = histogram.count(0); seen <= outside; seen += histogram.count(low)) {
            low++;
        }
        int high = Histogram.BINS - 1;
        for (long seen = histogram.count(high); seen <= outside; seen += histogram.count(high)) {
            high--;
        }
        double width = histogram.width();
        ValueRange all = histogram.range();
        ValueRange kept = new ValueRange((float) (all.min() + low * width), (float) (all.min() + (high + 1) * width));
        return kept.within(all).withZero();
    }

    /** How bad a range is; smaller is better. */
    private interface Loss {
        double of(Histogram histogram, ValueRange range);
    }

    /** The best of the ranges that shrink both ends towards 0 in equal steps; the widest wins a tie. */
    private static ValueRange best(Histogram histogram, Loss loss) {
        ValueRange all = histogram.range().withZero();
        ValueRange best = all;
        double least = loss.of(histogram, all);
        for (int step = STEPS - 1; step > 0; step--) {
            float part = (float) step / STEPS;
            ValueRange range = new ValueRange(all.min() * part, all.max() * part);
            double found = loss.of(histogram, range);
            if (found < least) {
                least = found;
                best = range;
            }
        }
        return best;
    }

    /** Elements inside are off by a third of half a step squared on average, those outside by their distance. */
    private static double squareError(Histogram histogram, ValueRange range) {
        double step = ((double) range.max() - range.min()) / (LEVELS - 1);
        double sum = 0;
        for (int i = 0; i < Histogram.BINS; i++) {
            double middle = histogram.middle(i);
            double beyond = Math.max(0, Math.max(range.min() - middle, middle - range.max()));
            sum += histogram.count(i) * (beyond > 0 ? beyond * beyond : step * step / 12);
        }
        return sum;
    }

    /**
     * The divergence of the quantized distribution from that of the elements. Elements outside the range count to its
     * last bin. A level spreads its elements evenly over the bins that it stands for, and that are not empty.
     */
    private static double divergence(Histogram histogram, ValueRange range) {
        double[] elements = new double[Histogram.BINS];
        int[] levels = new int[Histogram.BINS];
        double[] inLevel = new double[LEVELS];
        int[] binsOfLevel = new int[LEVELS];
        double step = ((double) range.max() - range.min()) / (LEVELS - 1);
        int first = bin(histogram, range.min());
        int last = bin(histogram, range.max());
        for (int i = 0; i < Histogram.BINS; i++) {
            elements[Math.max(first, Math.min(last, i))] += histogram.count(i);
        }
        for (int i = first; i <= last; i++) {
            levels[i] = (int) Math.max(0, Math.min(LEVELS - 1, Math.round((histogram.middle(i) - range.min()) / step)));
            inLevel[levels[i]] += histogram.count(i);
            binsOfLevel[levels[i]] += elements[i] > 0 ? 1 : 0;
        }
        double total = histogram.total();
        double inside = 0;
        for (int i = first; i <= last; i++) {
            inside += histogram.count(i);
        }
        double sum = 0;
        for (int i = first; i <= last; i++) {
            if (elements[i] > 0) {
                double p = elements[i] / total;
                double q = Math.max(UNSEEN, inLevel[levels[i]] / binsOfLevel[levels[i]] / Math.max(1, inside));
                sum += p * Math.log(p / q);
            }
        }
        return sum;
    }

    private static int bin(Histogram histogram, float value) {
        int bin = (int) (((double) value - histogram.range().min()) / histogram.width());
        return Math.max(0, Math.min(Histogram.BINS - 1, bin));
    }
}
