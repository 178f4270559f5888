// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess.media;

import io.kiln.preprocess.media.Taps.Method;
import java.util.List;
import java.util.Optional;

/**
 * How files become a model's input, as {@code samples.yaml} says.
 *
 * @param image what is done with pictures; empty if they are not described
 * @param sound what is done with recordings; empty if they are not described
 */
record SampleForms(Optional<Image> image, Optional<Sound> sound) {
    static final SampleForms NONE = new SampleForms(Optional.empty(), Optional.empty());

    /** How a picture's shape becomes that of the input. */
    enum Fit {
        /** Each side by a factor of its own. */
        STRETCH,
        /** By one factor, so that the area is filled; what protrudes is cut off. */
        COVER,
        /** By one factor, so that the picture fits in the area; the rest is filled with one value. */
        CONTAIN
    }

    /** Order of a picture's channels. */
    enum Channels {
        RGB,
        BGR,
        GRAY
    }

    /** Order of the input's dimensions. */
    enum Layout {
        NHWC,
        NCHW
    }

    /**
     * A height and a width.
     *
     * @param height rows
     * @param width pixels of a row
     */
    record Size(int height, int width) {}

    /**
     * From one size to another.
     *
     * @param size the new one
     * @param fit how shapes that differ are treated
     * @param method how pixels are computed
     * @param fill value of the area that {@link Fit#CONTAIN} leaves, from 0 to 255
     */
    record Resize(Size size, Fit fit, Method method, float fill) {}

    /**
     * What is done with a picture, in the order of the components.
     *
     * @param resize first
     * @param crop the size of the middle that is kept
     * @param channels which, in which order
     * @param layout of the input; empty if its shape tells
     * @param normalize each channel's numbers, in the order of the channels
     */
    record Image(
            Optional<Resize> resize,
            Optional<Size> crop,
            Channels channels,
            Optional<Layout> layout,
            Normalize normalize) {}

    /**
     * What is done with a recording.
     *
     * @param sampleRate samples per second that a recording must have
     * @param normalize from samples of 16 bits
     */
    record Sound(int sampleRate, Normalize normalize) {}

    /**
     * {@code (value / divide - mean) / std}, in single precision.
     *
     * @param divide applied to all
     * @param mean one, or one for each channel
     * @param std likewise, not 0
     */
    record Normalize(float divide, List<Float> mean, List<Float> std) {
        Normalize {
            mean = List.copyOf(mean);
            std = List.copyOf(std);
        }

        float of(float value, int channel) {
            return (value / divide - one(mean, channel)) / one(std, channel);
        }

        private static float one(List<Float> values, int channel) {
            return values.get(values.size() == 1 ? 0 : channel);
        }
    }
}
