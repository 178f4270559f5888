// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.Artifact.Loader;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.flow.HostProgram;
import io.kiln.frontend.tflite.single.Agreement;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.GoldenModels;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Many models in one program and one C file, so that the compiler starts once; under sanitizers, against the interpreter. */
final class ModelBatch {
    private final Path folder;
    private final List<String> failures = new ArrayList<>();
    private int programs;

    ModelBatch(Path folder) {
        this.folder = folder;
    }

    /** What is wrong, found in the halves of a program that fails. */
    List<String> check(List<MutatedModel> models) {
        try {
            compare(models, run(models));
        } catch (AssertionError e) {
            if (models.size() == 1) {
                failures.add(models.get(0).seed() + ": " + e.getMessage());
            } else {
                int half = models.size() / 2;
                check(models.subList(0, half));
                check(models.subList(half, models.size()));
            }
        }
        return failures;
    }

    private Bytes run(List<MutatedModel> models) {
        List<ModelMetadata> metadata = new ArrayList<>();
        List<Artifact> files = new ArrayList<>();
        List<Bytes> inputs = new ArrayList<>();
        StringBuilder entries = new StringBuilder();
        Set<String> blocks = new LinkedHashSet<>();
        for (MutatedModel model : models) {
            metadata.add(model.compiled().library().metadata());
            inputs.addAll(model.inputs());
            for (Artifact file : model.compiled().library().artifacts().artifacts()) {
                if (file.loader() == Loader.HEADER) {
                    files.add(file);
                } else if (file.fileName().endsWith("_lib0.c")) {
                    entries.append(entry(model, file.content().text()));
                } else if (file.loader() == Loader.SOURCE) {
                    // Helpers stand in the file of every model that calls them, always the same and parted by blank
                    // lines.
                    blocks.addAll(List.of(file.content().text().split("\n\n")));
                }
            }
        }
        files.add(source("entries.c", entries.toString()));
        files.add(source("models.c", String.join("\n\n", blocks) + "\n"));
        return HostProgram.build(folder.resolve("program" + programs++), metadata, List.of(files))
                .run(inputs);
    }

    /** Every model's own pool has the same name, where it is no member of a struct. */
    private static String entry(MutatedModel model, String text) {
        boolean isOwn = model.compiled().library().metadata().io() == Io.CALLER;
        return isOwn ? text.replace("global_workspace", "pool_" + model.seed()) : text;
    }

    private static Artifact source(String name, String text) {
        return Artifact.ofText("c", Loader.SOURCE, name, text, "");
    }

    private void compare(List<MutatedModel> models, Bytes answers) {
        int at = 0;
        for (MutatedModel model : models) {
            List<TensorType> types = GoldenModels.outputs(model.compiled().imported());
            for (int i = 0; i < types.size(); i++) {
                byte[] answer = new byte[model.expected().get(i).size()];
                answers.buffer().get(at, answer);
                at += answer.length;
                String what = Agreement.difference(
                        types.get(i).dtype(), model.expected().get(i), Bytes.wrap(answer), 0);
                if (!what.isEmpty()) {
                    failures.add(model.seed() + ": output " + i + ": " + what);
                }
            }
        }
    }
}
