// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Recordings made for tests. */
final class AudioSamples {
    private AudioSamples() {}

    /** Something like a voice: harmonics of a gliding pitch under two formants, over noise. */
    static short[] voice(int length, int rate, long seed) {
        Random random = new Random(seed);
        double base = 90 + random.nextInt(160);
        double formant = 400 + random.nextInt(600);
        double level = 300 + random.nextInt(6000);
        short[] audio = new short[length];
        double phase = 0;
        for (int i = 0; i < length; i++) {
            phase += 2 * Math.PI * base * (1 + 0.2 * Math.sin(3.0 * i / rate)) / rate;
            double sample = 0;
            for (int h = 1; h * base * 1.2 < rate / 2.0; h++) {
                double away = (h * base - formant) / 300;
                double above = (h * base - 3 * formant) / 500;
                sample += Math.sin(h * phase) * (1 / (1 + away * away) + 0.4 / (1 + above * above));
            }
            audio[i] = (short) Math.max(-32768, Math.min(32767, level * sample + 25 * random.nextGaussian()));
        }
        return audio;
    }

    /** Silence, ends of the range, an impulse, a square wave, and noise, loud and quiet. */
    static List<short[]> extremes(int length, long seed) {
        Random random = new Random(seed);
        List<short[]> all = new ArrayList<>();
        all.add(new short[length]);
        for (int value : new int[] {Short.MIN_VALUE, Short.MAX_VALUE, 1}) {
            short[] constant = new short[length];
            Arrays.fill(constant, (short) value);
            all.add(constant);
        }
        short[] impulse = new short[length];
        impulse[length / 2] = Short.MIN_VALUE;
        all.add(impulse);
        for (int period : new int[] {1, 2, 3, 8, 37}) {
            short[] square = new short[length];
            for (int i = 0; i < length; i++) {
                square[i] = i / period % 2 == 0 ? Short.MIN_VALUE : Short.MAX_VALUE;
            }
            all.add(square);
        }
        for (int bits : new int[] {0, 8, 14}) {
            short[] noise = new short[length];
            for (int i = 0; i < length; i++) {
                noise[i] = (short) ((short) random.nextInt() >> bits);
            }
            all.add(noise);
        }
        return all;
    }
}
