// SPDX-License-Identifier: Apache-2.0
package com.example;

import java.util.Random;

/** Says words: a voice of two formants, hisses and pauses, with a pitch, speed, loudness and beginning that differ each time. */
final class Words {
    static final String[] NAMES = {"yes", "no", "up", "down"};
    static final int RATE = 8000;
    static final int SAMPLES = 4096;

    /** For each word its sounds: two formants in hertz, how much voice, how much hiss, and the share of time. */
    private static final double[][][] SOUNDS = {
        {{280, 2250, 0.7, 0, 0.2}, {520, 1850, 1, 0, 0.4}, {520, 1850, 0, 0.5, 0.4}},
        {{260, 1300, 0.5, 0, 0.3}, {480, 900, 1, 0, 0.4}, {330, 750, 0.8, 0, 0.3}},
        {{680, 1200, 1, 0, 0.45}, {680, 1200, 0, 0, 0.35}, {680, 1200, 0, 0.6, 0.2}},
        {{300, 1700, 0.5, 0, 0.15}, {720, 1250, 1, 0, 0.3}, {380, 800, 0.9, 0, 0.25}, {260, 1300, 0.5, 0, 0.3}},
    };

    private final Random random;

    Words(long seed) {
        random = new Random(seed);
    }

    short[] say(int word) {
        short[] audio = new short[SAMPLES];
        double pitch = 90 + random.nextInt(130);
        double throat = 0.9 + 0.2 * random.nextDouble();
        double loudness = 1500 + random.nextInt(5000);
        int begin = 100 + random.nextInt(500);
        int length = 2700 + random.nextInt(700);
        double[] now = SOUNDS[word][0].clone();
        double phase = 0;
        double before = 0;
        for (int i = 0; i < SAMPLES; i++) {
            double sample = 0;
            if (i >= begin && i < begin + length) {
                double[] sound = sound(word, (double) (i - begin) / length);
                for (int k = 0; k < now.length; k++) {
                    now[k] += 0.01 * (sound[k] - now[k]);
                }
                phase += 2 * Math.PI * pitch * (1.1 - 0.2 * (i - begin) / length) / RATE;
                double noise = random.nextGaussian();
                sample = now[2] * voice(phase, pitch, now[0] * throat, now[1] * throat) + now[3] * (noise - before);
                before = noise;
            }
            double background = 20 * random.nextGaussian();
            audio[i] = (short) Math.max(-32768, Math.min(32767, loudness * sample + background));
        }
        return audio;
    }

    private static double[] sound(int word, double time) {
        double end = 0;
        for (double[] sound : SOUNDS[word]) {
            end += sound[4];
            if (time < end) {
                return sound;
            }
        }
        return SOUNDS[word][SOUNDS[word].length - 1];
    }

    /** Overtones, louder near the formants. */
    private static double voice(double phase, double pitch, double first, double second) {
        double sum = 0;
        for (int overtone = 1; overtone * pitch < 3500; overtone++) {
            double low = (overtone * pitch - first) / 90;
            double high = (overtone * pitch - second) / 130;
            sum += Math.sin(overtone * phase) * (1 / (1 + low * low) + 0.6 / (1 + high * high));
        }
        return sum;
    }
}
