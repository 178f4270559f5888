// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess.media;

/** A picture of real numbers, {@code [height][width][channels]}, which resizing and cropping keep unrounded. */
final class RealPicture {
    private final int height;
    private final int width;
    private final int channels;
    private final float[] values;

    private RealPicture(int height, int width, int channels, float... values) {
        this.height = height;
        this.width = width;
        this.channels = channels;
        this.values = values;
    }

    static RealPicture of(Picture picture) {
        float[] values = new float[picture.samples().size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = picture.samples().get(i) & 0xff;
        }
        return new RealPicture(picture.height(), picture.width(), picture.channels(), values);
    }

    int height() {
        return height;
    }

    int width() {
        return width;
    }

    int channels() {
        return channels;
    }

    /** A channel of the pixel that is {@code index} pixels behind the first one. */
    float value(int index, int channel) {
        return values[index * channels + channel];
    }

    /** The picture in another size: first every row, then every column. */
    RealPicture resized(int newHeight, int newWidth, Taps.Method method) {
        return withWidth(Taps.of(method, width, newWidth)).withHeight(Taps.of(method, height, newHeight));
    }

    private RealPicture withWidth(Taps taps) {
        float[] result = new float[height * taps.size() * channels];
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < taps.size(); x++) {
                int from = (y * width + taps.first(x)) * channels;
                weigh(taps, x, from, channels, (y * taps.size() + x) * channels, result);
            }
        }
        return new RealPicture(height, taps.size(), channels, result);
    }

    private RealPicture withHeight(Taps taps) {
        float[] result = new float[taps.size() * width * channels];
        for (int y = 0; y < taps.size(); y++) {
            for (int x = 0; x < width; x++) {
                int from = (taps.first(y) * width + x) * channels;
                weigh(taps, y, from, width * channels, (y * width + x) * channels, result);
            }
        }
        return new RealPicture(taps.size(), width, channels, result);
    }

    private void weigh(Taps taps, int index, int from, int step, int to, float[] result) {
        for (int c = 0; c < channels; c++) {
            double sum = 0;
            for (int k = 0; k < taps.count(index); k++) {
                sum += taps.weight(index, k) * values[from + c + k * step];
            }
            result[to + c] = (float) sum;
        }
    }

    /** The middle; of an odd number of surplus rows or columns one more is cut off at the end. */
    RealPicture cropped(int newHeight, int newWidth) {
        return moved(newHeight, newWidth, -((height - newHeight) / 2), -((width - newWidth) / 2), 0);
    }

    /** In the middle of a larger area; of an odd number of free rows or columns one more is at the end. */
    RealPicture padded(int newHeight, int newWidth, float fill) {
        return moved(newHeight, newWidth, (newHeight - height) / 2, (newWidth - width) / 2, fill);
    }

    private RealPicture moved(int newHeight, int newWidth, int down, int right, float fill) {
        float[] result = new float[newHeight * newWidth * channels];
        for (int y = 0; y < newHeight; y++) {
            for (int x = 0; x < newWidth; x++) {
                boolean isInside = y >= down && y < down + height && x >= right && x < right + width;
                for (int c = 0; c < channels; c++) {
                    result[(y * newWidth + x) * channels + c] =
                            isInside ? values[((y - down) * width + x - right) * channels + c] : fill;
                }
            }
        }
        return new RealPicture(newHeight, newWidth, channels, result);
    }
}
