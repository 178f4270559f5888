// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.quality;

/**
 * The power of a signal and of the difference to it.
 *
 * @param signal sum of squares
 * @param noise sum of squared differences
 */
public record Noise(double signal, double noise) {
    /** Nothing measured. */
    public static final Noise NOTHING = new Noise(0, 0);

    private static final double MOST = 200;

    /** The sums over both. */
    public Noise plus(Noise other) {
        return new Noise(signal + other.signal, noise + other.noise);
    }

    /** Signal-to-quantization-noise ratio in dB, from -200 to 200. */
    public double decibels() {
        if (noise == 0) {
            return MOST;
        }
        return signal == 0 ? -MOST : Math.max(-MOST, Math.min(MOST, 10 * Math.log10(signal / noise)));
    }
}
