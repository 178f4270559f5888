// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.range;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * How many elements of a value lie in each of equal parts of its range. Counts do not depend on the order of adding, so
 * that threads may share it.
 */
final class Histogram {
    /** Number of parts. */
    static final int BINS = 2048;

    private final ValueRange range;
    private final AtomicLongArray counts = new AtomicLongArray(BINS);

    Histogram(ValueRange range) {
        this.range = range;
    }

    /** Counts elements of the range. */
    void add(float[] values) {
        double width = width();
        int[] own = new int[BINS];
        for (float value : values) {
            int bin = width == 0 ? 0 : (int) (((double) value - range.min()) / width);
            own[Math.max(0, Math.min(BINS - 1, bin))]++;
        }
        for (int i = 0; i < BINS; i++) {
            if (own[i] > 0) {
                counts.addAndGet(i, own[i]);
            }
        }
    }

    ValueRange range() {
        return range;
    }

    long count(int bin) {
        return counts.get(bin);
    }

    long total() {
        long total = 0;
        for (int i = 0; i < BINS; i++) {
            total += counts.get(i);
        }
        return total;
    }

    /** Width of a bin. */
    double width() {
        return ((double) range.max() - range.min()) / BINS;
    }

    /** The middle of a bin. */
    double middle(int bin) {
        return range.min() + (bin + 0.5) * width();
    }
}
