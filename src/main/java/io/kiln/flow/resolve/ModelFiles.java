// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.compile.Frontends;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Determines the models of a build. */
public final class ModelFiles {
    /** The accepted kinds of model files, for messages. */
    public static final String EXPECTED = "a .tflite, .onnx or .relay file, or an archive (.tar)";

    private ModelFiles() {}

    /**
     * The given models, or the one in the project's model folder.
     *
     * @param several the list of named models; empty if none was given
     * @param single the single model given
     * @param name the name of a model that is found
     * @param inputs what is said about the inputs of a single model
     * @param folder searched for a model if none is given
     * @return the models; empty if there are none
     * @throws KilnException if both kinds are given, or if the folder holds more than one model
     */
    public static List<ModelSource> choose(
            List<ModelSource> several, Optional<ModelSource> single, String name, GivenInputs inputs, Path folder) {
        if (!several.isEmpty() && single.isPresent()) {
            throw Failure.CONFIG.exception(
                    "both kiln.model and <models> are given",
                    single.get().file().toString(),
                    "one of the two",
                    "Remove kiln.model");
        }
        if (!several.isEmpty() && !inputs.equals(GivenInputs.NONE)) {
            String parameter = inputs.parameter();
            throw Failure.CONFIG.exception(
                    "both kiln." + parameter + " and <models> are given",
                    inputs.shapes() + inputs.values() + inputs.signature(),
                    "<" + parameter + "> inside a <model>",
                    "Remove kiln." + parameter);
        }
        if (!several.isEmpty()) {
            return List.copyOf(several);
        }
        if (single.isPresent()) {
            return List.of(single.get());
        }
        List<Path> found = modelsIn(folder);
        if (found.size() > 1) {
            throw Failure.MODEL.exception(
                    "there are " + found.size() + " models: "
                            + String.join(
                                    ", ",
                                    found.stream()
                                            .map(f -> f.getFileName().toString())
                                            .toList()),
                    folder.toString(),
                    "one",
                    "Choose one with kiln.model, or put several into one image with <models>");
        }
        return found.stream()
                .map(file -> new ModelSource(file, name, inputs, "", Optional.empty(), Optional.empty()))
                .toList();
    }

    /** Whether a file has the name of a model, or of an archive of models. */
    public static boolean isModel(Path file) {
        return Stream.concat(Frontends.SUFFIXES.stream(), Stream.of(ModelArchives.SUFFIX))
                .anyMatch(suffix -> file.getFileName().toString().endsWith(suffix));
    }

    private static List<Path> modelsIn(Path folder) {
        return Files.isDirectory(folder)
                ? WholeFiles.list(folder).stream().filter(ModelFiles::isModel).toList()
                : List.of();
    }
}
