// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.model;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.toolchain.yaml.YamlDocument;
import io.kiln.toolchain.yaml.YamlSchema;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code model.yaml}, the card of a model that is published as an artifact. Paths are relative to its folder.
 *
 * @param licence an SPDX expression
 * @param file the model; empty if the folder has only one
 * @param given as {@code kiln.inputShapes} and {@code kiln.inputValues}
 * @param data what comes with the model
 * @param inputs that the model must have; empty if the card does not say
 * @param outputs likewise
 * @param document the card as it was read, for messages
 */
record ModelCard(
        String licence,
        Optional<String> file,
        GivenInputs given,
        Data data,
        List<Tensor> inputs,
        List<Tensor> outputs,
        YamlDocument document) {
    /** Name of the card. */
    static final String FILE = "model.yaml";

    private static final YamlSchema SCHEMA = new YamlSchema("model.schema.json");

    ModelCard {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
    }

    /**
     * What comes with a model.
     *
     * @param vectors folder of test vectors, if named
     * @param samples typical inputs for quantization, if named
     * @param labels of the samples, if named
     */
    record Data(Optional<String> vectors, Optional<String> samples, Optional<String> labels) {}

    /** An input or output as the card states it. */
    record Tensor(String name, String dtype, List<Integer> shape, String where) {
        Tensor {
            shape = List.copyOf(shape);
        }

        String text() {
            return name + " " + dtype + shape;
        }
    }

    /**
     * Reads the card of a folder.
     *
     * @throws KilnException with every mistake and its line
     */
    static ModelCard read(Path folder) {
        Path file = folder.resolve(FILE);
        if (!Files.isRegularFile(file)) {
            throw Failure.MODEL.exception(
                    "does not exist",
                    file.toString(),
                    "the model's card: at least schema, title and licence",
                    "Write it; the page \"Share a model\" has an example");
        }
        YamlDocument document = YamlDocument.parse(file.toString(), YamlDocument.content(file));
        Problems problems = new Problems(Failure.MODEL);
        SCHEMA.check(document, problems);
        problems.throwIfAny();
        return new ModelCard(
                document.root().path("licence").asText(),
                text(document, "file"),
                new GivenInputs(
                        text(document, "inputShapes").orElse(""),
                        text(document, "inputValues").orElse("")),
                new Data(text(document, "vectors"), text(document, "samples"), text(document, "labels")),
                tensors(document, "inputs"),
                tensors(document, "outputs"),
                document);
    }

    private static Optional<String> text(YamlDocument document, String key) {
        return Optional.of(document.root().path(key))
                .filter(JsonNode::isTextual)
                .map(JsonNode::asText);
    }

    private static List<Tensor> tensors(YamlDocument document, String key) {
        List<Tensor> tensors = new ArrayList<>();
        JsonNode all = document.root().path(key);
        for (int i = 0; i < all.size(); i++) {
            List<Integer> shape = new ArrayList<>();
            all.get(i).path("shape").forEach(dimension -> shape.add(dimension.asInt()));
            tensors.add(new Tensor(
                    all.get(i).path("name").asText(),
                    all.get(i).path("dtype").asText(),
                    shape,
                    document.where("/" + key + "/" + i)));
        }
        return tensors;
    }
}
