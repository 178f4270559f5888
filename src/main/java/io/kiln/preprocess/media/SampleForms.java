// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess.media;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.preprocess.media.SampleForms.Channels;
import io.kiln.preprocess.media.SampleForms.Fit;
import io.kiln.preprocess.media.SampleForms.Image;
import io.kiln.preprocess.media.SampleForms.Layout;
import io.kiln.preprocess.media.SampleForms.Normalize;
import io.kiln.preprocess.media.SampleForms.Resize;
import io.kiln.preprocess.media.SampleForms.Size;
import io.kiln.preprocess.media.SampleForms.Sound;
import io.kiln.preprocess.media.SampleForms.Taps.Method;
import io.kiln.toolchain.yaml.YamlDocument;
import io.kiln.toolchain.yaml.YamlDocument.YamlSchema;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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

    /** Reads {@code samples.yaml}; see {@code toolchains/schemas/samples.schema.json}. */
    static final class SampleFormsReader {
        private final YamlDocument document;
        private final Problems problems = new Problems(Failure.SAMPLES);

        /** Loaded only if there is such a file. */
        private static final class Schema {
            static final YamlSchema OF_SAMPLES = new YamlSchema("samples.schema.json");
        }

        private SampleFormsReader(YamlDocument document) {
            this.document = document;
        }

        /**
         * Reads a file.
         *
         * @throws KilnException with every mistake, each with its line and column
         */
        static SampleForms read(Path file) {
            return parse(file.toString(), YamlDocument.content(file));
        }

        static SampleForms parse(String name, Bytes content) {
            SampleFormsReader reader = new SampleFormsReader(YamlDocument.parse(name, content));
            Schema.OF_SAMPLES.checkExactly(reader.document, reader.problems);
            reader.problems.throwIfAny();
            SampleForms forms = new SampleForms(
                    reader.has("/image") ? Optional.of(reader.image()) : Optional.empty(),
                    reader.has("/sound") ? Optional.of(reader.sound()) : Optional.empty());
            reader.problems.throwIfAny();
            return forms;
        }

        private Image image() {
            Channels channels = choice("/image/channels", Channels.values(), Channels.RGB);
            Optional<Resize> resize = has("/image/resize")
                    ? Optional.of(new Resize(
                            size("/image/resize"),
                            choice("/image/resize/fit", Fit.values(), Fit.STRETCH),
                            choice("/image/resize/method", Method.values(), Method.ANTIALIAS),
                            real("/image/resize/fill", 0)))
                    : Optional.empty();
            return new Image(
                    resize,
                    has("/image/crop") ? Optional.of(size("/image/crop")) : Optional.empty(),
                    channels,
                    has("/image/layout")
                            ? Optional.of(choice("/image/layout", Layout.values(), Layout.NHWC))
                            : Optional.empty(),
                    normalize("/image/normalize", channels == Channels.GRAY ? 1 : 3));
        }

        private Sound sound() {
            return new Sound(at("/sound/sampleRate").asInt(), normalize("/sound/normalize", 1));
        }

        private Size size(String pointer) {
            return new Size(
                    at(pointer + "/height").asInt(), at(pointer + "/width").asInt());
        }

        private Normalize normalize(String pointer, int channels) {
            return new Normalize(
                    nonZero(pointer + "/divide", real(pointer + "/divide", 1)),
                    reals(pointer + "/mean", 0, channels),
                    reals(pointer + "/std", 1, channels).stream()
                            .map(value -> nonZero(pointer + "/std", value))
                            .toList());
        }

        private float nonZero(String pointer, float value) {
            if (value == 0) {
                problem("what is divided by is 0", pointer, "another number");
            }
            return value;
        }

        private List<Float> reals(String pointer, float usual, int channels) {
            JsonNode node = at(pointer);
            if (!node.isArray()) {
                return List.of(real(pointer, usual));
            }
            if (node.size() != 1 && node.size() != channels) {
                problem(
                        node.size() + " numbers for " + channels + " channels",
                        pointer,
                        "one number, or one for each channel");
                return List.of(usual);
            }
            List<Float> reals = new ArrayList<>();
            for (int i = 0; i < node.size(); i++) {
                reals.add(real(pointer + "/" + i, usual));
            }
            return reals;
        }

        /** The schema admits numbers only; some of them are too large for a float. */
        private float real(String pointer, float usual) {
            JsonNode node = at(pointer);
            float value = node.isMissingNode() ? usual : Float.parseFloat(node.asText());
            if (!Float.isFinite(value)) {
                problem("the number " + node.asText() + " is too large", pointer, "a number of single precision");
            }
            return value;
        }

        private <E extends Enum<E>> E choice(String pointer, E[] values, E usual) {
            String text = at(pointer).asText();
            for (E value : values) {
                if (value.name().toLowerCase(Locale.ROOT).equals(text)) {
                    return value;
                }
            }
            return usual;
        }

        private boolean has(String pointer) {
            return !at(pointer).isMissingNode();
        }

        private JsonNode at(String pointer) {
            return document.root().at(pointer);
        }

        private void problem(String what, String pointer, String expected) {
            problems.add(what, document.exactly(pointer), expected, "");
        }
    }
}
