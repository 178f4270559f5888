// SPDX-License-Identifier: Apache-2.0
package com.example;

import java.util.Random;

/** Draws digits as a careless hand does: turned, shifted, of different size and thickness, on noisy paper. */
final class Digits {
    /** Rows and columns of an image. */
    static final int SIZE = 12;

    static final int CLASSES = 10;

    /** The corners of each digit's line as x, y pairs from 0 to 1, y downwards. */
    private static final float[][] LINES = {
        {.5f, 0, .15f, .25f, .15f, .75f, .5f, 1, .85f, .75f, .85f, .25f, .5f, 0},
        {.25f, .2f, .55f, 0, .55f, 1},
        {.15f, .2f, .5f, 0, .85f, .25f, .15f, 1, .85f, 1},
        {.15f, 0, .85f, 0, .45f, .4f, .85f, .7f, .5f, 1, .15f, .9f},
        {.7f, 1, .7f, 0, .1f, .65f, .95f, .65f},
        {.85f, 0, .2f, 0, .2f, .45f, .7f, .45f, .85f, .7f, .6f, 1, .15f, .95f},
        {.75f, 0, .25f, .5f, .2f, .8f, .5f, 1, .8f, .8f, .75f, .55f, .25f, .6f},
        {.1f, 0, .9f, 0, .4f, 1},
        {.5f, .48f, .2f, .25f, .5f, 0, .8f, .25f, .5f, .48f, .15f, .75f, .5f, 1, .85f, .75f, .5f, .48f},
        {.8f, .4f, .3f, .45f, .2f, .2f, .5f, 0, .8f, .2f, .8f, .4f, .6f, 1},
    };

    private final Random random;

    /** The same seed draws the same digits. */
    Digits(long seed) {
        random = new Random(seed);
    }

    /** An image, row by row: about 0 for paper and 1 for ink. */
    float[] draw(int digit) {
        float[] corners = onPaper(LINES[digit]);
        float thickness = 0.3f + 0.4f * random.nextFloat();
        float[] image = new float[SIZE * SIZE];
        for (int y = 0; y < SIZE; y++) {
            for (int x = 0; x < SIZE; x++) {
                float ink = Math.max(0, Math.min(1, 1.2f + thickness - distance(corners, x, y)));
                image[y * SIZE + x] = ink + 0.15f * (float) random.nextGaussian();
            }
        }
        return image;
    }

    /** The corners in pixels. */
    private float[] onPaper(float[] line) {
        double angle = 0.2 * random.nextGaussian();
        float height = 7.5f + 2 * random.nextFloat();
        float width = height * (0.6f + 0.2f * random.nextFloat());
        float left = 1.6f * random.nextFloat() - 0.8f + (SIZE - 1) / 2f;
        float top = 1.6f * random.nextFloat() - 0.8f + (SIZE - 1) / 2f;
        float[] corners = new float[line.length];
        for (int i = 0; i < line.length; i += 2) {
            double x = (line[i] - 0.5) * width;
            double y = (line[i + 1] - 0.5) * height;
            corners[i] = (float) (x * Math.cos(angle) - y * Math.sin(angle)) + left;
            corners[i + 1] = (float) (x * Math.sin(angle) + y * Math.cos(angle)) + top;
        }
        return corners;
    }

    /** How far a pixel is from the line. */
    private static float distance(float[] corners, int x, int y) {
        double least = Double.MAX_VALUE;
        for (int i = 0; i + 3 < corners.length; i += 2) {
            double dx = corners[i + 2] - corners[i];
            double dy = corners[i + 3] - corners[i + 1];
            double along = ((x - corners[i]) * dx + (y - corners[i + 1]) * dy) / (dx * dx + dy * dy);
            double part = Math.max(0, Math.min(1, along));
            least = Math.min(least, Math.hypot(x - corners[i] - part * dx, y - corners[i + 1] - part * dy));
        }
        return (float) least;
    }
}
