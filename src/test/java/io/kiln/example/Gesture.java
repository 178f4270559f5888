// SPDX-License-Identifier: Apache-2.0
package io.kiln.example;

import java.util.List;
import java.util.Random;

/** What the example model tells apart. A sample is 32 readings of three axes in g, about 1.3 seconds at 25 Hz. */
public enum Gesture {
    /** The device rests. */
    STILL {
        @Override
        void move(double[][] sample, Random random) {
            // Gravity and noise are all there is.
        }
    },
    /** Quick strokes from side to side. */
    SHAKE {
        @Override
        void move(double[][] sample, Random random) {
            double amplitude = 0.6 + 0.8 * random.nextDouble();
            double turns = 4 + 2 * random.nextDouble();
            double phase = 2 * Math.PI * random.nextDouble();
            for (int t = 0; t < LENGTH; t++) {
                sample[t][0] += amplitude * StrictMath.sin(phase + 2 * Math.PI * turns * t / LENGTH);
            }
        }
    },
    /** Slow circles in the plane of the device. */
    CIRCLE {
        @Override
        void move(double[][] sample, Random random) {
            double radius = 0.5 + 0.5 * random.nextDouble();
            double turns = 1.2 + random.nextDouble();
            double phase = 2 * Math.PI * random.nextDouble();
            for (int t = 0; t < LENGTH; t++) {
                double angle = phase + 2 * Math.PI * turns * t / LENGTH;
                sample[t][0] += radius * StrictMath.cos(angle);
                sample[t][1] += radius * StrictMath.sin(angle);
            }
        }
    },
    /** One or two knocks from above, each dying away within a few readings. */
    TAP {
        @Override
        void move(double[][] sample, Random random) {
            for (int knocks = 1 + random.nextInt(2); knocks > 0; knocks--) {
                int start = random.nextInt(LENGTH - 6);
                double height = 0.9 + 0.8 * random.nextDouble();
                for (int t = start; t < LENGTH; t++) {
                    double sign = (t - start) % 2 == 0 ? 1 : -1;
                    sample[t][2] += sign * height * StrictMath.exp(-0.8 * (t - start));
                }
            }
        }
    };

    /** Readings in a sample. */
    public static final int LENGTH = 32;

    /** Axes of a reading: x to the side, y forward, z up. */
    public static final int AXES = 3;

    /** The gestures in the order of the model's answers. */
    public static final List<Gesture> LABELS = List.of(values());

    private static final double NOISE = 0.08;

    /** The gesture's place among the model's answers. */
    int label() {
        return LABELS.indexOf(this);
    }

    abstract void move(double[][] sample, Random random);

    /** A new sample: the movement, on top of gravity for a device held not quite level, and noise. */
    double[][] sample(Random random) {
        double tiltX = 0.3 * (random.nextDouble() - 0.5);
        double tiltY = 0.3 * (random.nextDouble() - 0.5);
        double[][] sample = new double[LENGTH][AXES];
        for (double[] reading : sample) {
            reading[0] = tiltX + noise(random);
            reading[1] = tiltY + noise(random);
            reading[2] = Math.sqrt(1 - tiltX * tiltX - tiltY * tiltY) + noise(random);
        }
        move(sample, random);
        return sample;
    }

    /** About normal: a sum of uniform numbers, so that no library's logarithm matters. */
    private static double noise(Random random) {
        return NOISE * (random.nextDouble() + random.nextDouble() + random.nextDouble() - 1.5) * 2;
    }
}
