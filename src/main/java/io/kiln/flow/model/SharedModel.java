// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.model;

import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.PlainZip;
import io.kiln.base.PlainZip.Kind;
import io.kiln.base.PlainZip.Limits;
import io.kiln.base.WholeFiles;
import io.kiln.flow.resolve.ModelFiles;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

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
}
