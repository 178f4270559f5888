// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.model;

import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.PlainZip;
import io.kiln.base.Problems;
import io.kiln.compile.Frontends;
import io.kiln.compile.ReadOptions;
import io.kiln.flow.model.ModelCard.Tensor;
import io.kiln.flow.resolve.ModelArchives;
import io.kiln.ir.Function;
import io.kiln.ir.type.TensorType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

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
            shared.vectors().filter(Files::isDirectory).ifPresent(vectors -> checkSizes(vectors, function, problems));
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

    private static void compare(String what, ModelCard card, List<Tensor> stated, List<Tensor> had, Problems problems) {
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
        long input = function.params().stream().mapToLong(p -> p.type().bytes()).sum();
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
                    problems.add("has " + Files.size(file) + " bytes", file.toString(), bytes + " bytes, as the model");
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
