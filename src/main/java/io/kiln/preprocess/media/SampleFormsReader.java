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
import io.kiln.preprocess.media.Taps.Method;
import io.kiln.toolchain.yaml.YamlDocument;
import io.kiln.toolchain.yaml.YamlDocument.YamlSchema;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Reads {@code samples.yaml}; see {@code toolchains/schemas/samples.schema.json}. */
final class SampleFormsReader {
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
        return new Size(at(pointer + "/height").asInt(), at(pointer + "/width").asInt());
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
