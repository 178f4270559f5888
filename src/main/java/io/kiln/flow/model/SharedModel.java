// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.model;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.PlainZip;
import io.kiln.base.PlainZip.Kind;
import io.kiln.base.PlainZip.Limits;
import io.kiln.base.Problems;
import io.kiln.base.WholeFiles;
import io.kiln.compile.Frontends;
import io.kiln.compile.ReadOptions;
import io.kiln.flow.model.SharedModel.ModelCard.Tensor;
import io.kiln.flow.resolve.ModelFiles;
import io.kiln.flow.resolve.ModelFiles.ModelArchives;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.ir.Function;
import io.kiln.ir.type.TensorType;
import io.kiln.toolchain.yaml.YamlDocument;
import io.kiln.toolchain.yaml.YamlDocument.YamlSchema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A model with its vectors, samples and labels, as it is shared as an artifact.
 *
 * @param file the model
 * @param inputs as {@code kiln.inputShapes} and {@code kiln.inputValues}
 * @param vectors folder of test vectors
 * @param samples typical inputs for quantization
 * @param labels of the samples
 */
public record SharedModel(
        Path file, GivenInputs inputs, Optional<Path> vectors, Optional<Path> samples, Optional<Path> labels) {
    /** The kind of zips with models. Models for microcontrollers are smaller by far than its limits; they are read into memory. */
    static final Kind MODELS =
            new Kind("a model", "model", "vectors/input_0.bin", 1, new Limits(64 << 20, 20_000, 64 << 20, 128L << 20));

    /** A model alone. */
    public static SharedModel of(Path file) {
        return new SharedModel(file, GivenInputs.NONE, Optional.empty(), Optional.empty(), Optional.empty());
    }

    /**
     * The model of an artifact.
     *
     * @param artifact a zip, or the folder that it is packed from
     * @param name the model's file in it; empty for the one that the card names
     * @param home folder in which zips are unpacked, each once
     * @throws KilnException if the artifact is damaged, hostile, or has no such model
     */
    public static SharedModel of(Path artifact, Optional<String> name, Path home) {
        Path folder = Files.isDirectory(artifact) ? artifact : unpacked(artifact, home);
        ModelCard card = ModelCard.read(folder);
        return new SharedModel(
                name.map(given -> named(folder, given)).orElseGet(() -> model(folder, card)),
                card.given(),
                part(folder, card.data().vectors(), "vectors"),
                part(folder, card.data().samples(), "samples"),
                part(folder, card.data().labels(), "labels.csv"));
    }

    /** Unpacks a zip. The folder is named by the zip's digest, and the card is written last, so that a folder with a card is complete and correct. */
    private static Path unpacked(Path zip, Path home) {
        Path folder = home.resolve("models").resolve(Digests.sha256(zip));
        if (!Files.isRegularFile(folder.resolve(ModelCard.FILE))) {
            TreeMap<String, Bytes> files = new TreeMap<>(PlainZip.read(MODELS, zip));
            Optional<Bytes> card = Optional.ofNullable(files.remove(ModelCard.FILE));
            WholeFiles.write(folder, files);
            card.ifPresent(content -> WholeFiles.write(folder.resolve(ModelCard.FILE), content));
        }
        return folder;
    }

    /** The model of this name, which must be one of the folder's files. */
    private static Path named(Path folder, String name) {
        List<Path> models = models(folder);
        return models.stream()
                .filter(file -> relative(folder, file).equals(name))
                .findFirst()
                .orElseThrow(() -> Failure.MODEL.exception(
                        "there is no model " + name + " in it",
                        folder.toString(),
                        models.stream().map(file -> relative(folder, file)).toList() + "",
                        "Correct the last part of kiln.model"));
    }

    static Path model(Path folder, ModelCard card) {
        if (card.file().isPresent()) {
            Path file = folder.resolve(card.file().get());
            if (!Files.isRegularFile(file)) {
                throw Failure.MODEL.exception(
                        "there is no file " + card.file().get(), card.document().where("/file"), "the model");
            }
            return file;
        }
        List<Path> models = models(folder);
        if (models.size() != 1) {
            throw Failure.MODEL.exception(
                    "there are " + models.size() + " models: "
                            + models.stream()
                                    .map(file -> relative(folder, file))
                                    .toList(),
                    folder.toString(),
                    "one, or file: in model.yaml",
                    "Name the model in model.yaml");
        }
        return models.get(0);
    }

    private static List<Path> models(Path folder) {
        return WholeFiles.below(folder).stream().filter(ModelFiles::isModel).toList();
    }

    private static Optional<Path> part(Path folder, Optional<String> named, String usual) {
        return Optional.of(folder.resolve(named.orElse(usual))).filter(path -> named.isPresent() || Files.exists(path));
    }

    private static String relative(Path folder, Path file) {
        return folder.relativize(file).toString().replace('\\', '/');
    }

    /** All files of a folder by their names in the zip. */
    static SortedMap<String, Bytes> files(Path folder) {
        TreeMap<String, Bytes> files = new TreeMap<>();
        WholeFiles.below(folder).forEach(file -> files.put(relative(folder, file), WholeFiles.read(file)));
        return files;
    }

    /**
     * A folder with a model, its vectors and its card: checked, and packed for publication.
     *
     * @param folder with {
     * @param log gets a line of what was done
     */
    public record ModelFolder(Path folder, Log log) {
        private static final Pattern VECTOR = Pattern.compile("(input|output)_(\\d{1,9})\\.bin");

        /**
         * Reads the card and the model, and compares them: inputs and outputs, and the sizes of test vectors. A model that is an
         * archive is only read.
         *
         * @throws KilnException with everything that is wrong
         */
        public void check() {
            ModelCard card = ModelCard.read(folder);
            SharedModel shared = SharedModel.of(folder, Optional.empty(), folder);
            Problems problems = new Problems(Failure.MODEL);
            Stream.of(shared.vectors(), shared.samples(), shared.labels())
                    .flatMap(Optional::stream)
                    .filter(path -> !Files.exists(path))
                    .forEach(path -> problems.add("does not exist", path.toString(), "what model.yaml names"));
            if (ModelArchives.accepts(shared.file())) {
                ModelArchives.read(shared.file());
            } else {
                Function function =
                        Frontends.read(shared.file(), "model", shared.inputs().parsed(), ReadOptions.DEFAULT);
                compare(card, function, problems);
                shared.vectors()
                        .filter(Files::isDirectory)
                        .ifPresent(vectors -> checkSizes(vectors, function, problems));
            }
            problems.throwIfAny();
            log.info("Model " + shared.file().getFileName() + ": the card is right, licence " + card.licence());
        }

        private static void compare(ModelCard card, Function function, Problems problems) {
            List<Tensor> inputs = function.params().stream()
                    .map(parameter -> tensor(parameter.name(), parameter.type()))
                    .toList();
            Map<Integer, TensorType> types = function.types();
            List<Tensor> outputs = function.results().stream()
                    .map(result -> tensor(result.name(), types.get(result.id())))
                    .toList();
            compare("inputs", card, card.inputs(), inputs, problems);
            compare("outputs", card, card.outputs(), outputs, problems);
        }

        private static Tensor tensor(String name, TensorType type) {
            return new Tensor(name, type.dtype().text(), type.shape().dims(), "");
        }

        private static void compare(
                String what, ModelCard card, List<Tensor> stated, List<Tensor> had, Problems problems) {
            if (stated.isEmpty()) {
                return;
            }
            if (stated.size() != had.size()) {
                problems.add(
                        "the card states " + stated.size() + " " + what + ", the model has " + had.size(),
                        card.document().where("/" + what),
                        had.stream().map(Tensor::text).toList().toString());
                return;
            }
            for (int i = 0; i < had.size(); i++) {
                if (!stated.get(i).text().equals(had.get(i).text())) {
                    problems.add(
                            "the card states " + stated.get(i).text() + ", which the model does not have",
                            stated.get(i).where(),
                            had.get(i).text(),
                            "Correct the card");
                }
            }
        }

        private static void checkSizes(Path vectors, Function function, Problems problems) {
            long input =
                    function.params().stream().mapToLong(p -> p.type().bytes()).sum();
            Map<Integer, TensorType> types = function.types();
            long output = function.results().stream()
                    .mapToLong(result -> types.get(result.id()).bytes())
                    .sum();
            try (Stream<Path> files = Files.list(vectors)) {
                for (Path file : files.sorted().toList()) {
                    Matcher name = VECTOR.matcher(file.getFileName().toString());
                    if (!name.matches()) {
                        continue;
                    }
                    long bytes = name.group(1).equals("input") ? input : output;
                    if (Files.size(file) != bytes) {
                        problems.add(
                                "has " + Files.size(file) + " bytes", file.toString(), bytes + " bytes, as the model");
                    }
                }
            } catch (IOException e) {
                throw FileFailure.of("cannot list", vectors, e);
            }
        }

        /**
         * Writes the zip: the folder's files. Equal folders give equal bytes.
         *
         * @throws KilnException if there are files that no build could read from the zip
         */
        public void pack(Path zip) {
            if (!Files.isRegularFile(folder.resolve(ModelCard.FILE))) {
                throw Failure.MODEL.exception(
                        "does not exist", folder.resolve(ModelCard.FILE).toString(), "the model's card");
            }
            PlainZip.write(SharedModel.MODELS, SharedModel.files(folder), zip);
            log.info("Packed " + SharedModel.files(folder).size() + " files in " + zip);
        }
    }

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
}
