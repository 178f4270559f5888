// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess.media;

import java.util.ArrayList;
import java.util.List;

/**
 * How each element of a resized axis is made of elements of the old one: the first that counts, and the weights of it and its neighbours. A
 * pixel's centre lies half a pixel behind its edge ("half pixel centres").
 */
record Taps(List<Tap> taps) {
    /** How pixels are made of those of another size. */
    enum Method {
        /** The pixel in which the centre lies; {@code tf.image.resize} with {@code nearest}. */
        NEAREST,
        /** Between the two pixels around the centre, also when the picture shrinks; {@code tf.image.resize} with {@code bilinear}. */
        BILINEAR,
        /** The same when the picture grows; when it shrinks, a triangle as wide as two new pixels, so that every old pixel counts: Pillow, torchvision. */
        ANTIALIAS
    }

    private static final class Tap {
        private final int first;
        private final double[] weights;

        Tap(int first, double... weights) {
            this.first = first;
            this.weights = weights;
        }
    }

    /** From one length to another. */
    static Taps of(Method method, int from, int to) {
        List<Tap> taps = new ArrayList<>();
        for (int i = 0; i < to; i++) {
            double centre = (i + 0.5) * from / to;
            taps.add(
                    switch (method) {
                        case NEAREST -> new Tap(Math.min(from - 1, (int) centre), 1);
                        case BILINEAR -> between(centre - 0.5, from);
                        case ANTIALIAS -> triangle(centre, Math.max(1.0, (double) from / to), from);
                    });
        }
        return new Taps(List.copyOf(taps));
    }

    private static Tap between(double position, int from) {
        int lower = (int) Math.floor(position);
        double share = position - lower;
        if (lower < 0 || lower >= from - 1) {
            return new Tap(Math.max(0, Math.min(from - 1, lower)), 1);
        }
        return new Tap(lower, 1 - share, share);
    }

    /** Weights fall from the centre to 0 at a distance; those beyond the picture do not count, and the others add up to 1. */
    private static Tap triangle(double centre, double distance, int from) {
        int first = Math.max(0, (int) (centre - distance + 0.5));
        int end = Math.min(from, (int) (centre + distance + 0.5));
        double[] weights = new double[end - first];
        double sum = 0;
        for (int k = 0; k < weights.length; k++) {
            weights[k] = Math.max(0, 1 - Math.abs(first + k + 0.5 - centre) / distance);
            sum += weights[k];
        }
        for (int k = 0; k < weights.length; k++) {
            weights[k] /= sum;
        }
        return new Tap(first, weights);
    }

    int size() {
        return taps.size();
    }

    int first(int index) {
        return taps.get(index).first;
    }

    int count(int index) {
        return taps.get(index).weights.length;
    }

    double weight(int index, int k) {
        return taps.get(index).weights[k];
    }
}
