// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.compile.HostProgram;
import io.kiln.frontend.tflite.single.Agreement;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.GoldenModels;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Many models in one program, so that the compiler starts once; under sanitizers, against the interpreter. */
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
        List<ModelLibrary> libraries =
                models.stream().map(m -> m.compiled().library()).toList();
        List<Bytes> inputs = models.stream().flatMap(m -> m.inputs().stream()).toList();
        return HostProgram.build(
                        folder.resolve("program" + programs++),
                        libraries.stream().map(ModelLibrary::metadata).toList(),
                        libraries.stream().map(l -> l.artifacts().artifacts()).toList())
                .run(inputs);
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
                        types.get(i).dtype(), model.expected().get(i), Bytes.wrap(answer));
                if (!what.isEmpty()) {
                    failures.add(model.seed() + ": output " + i + ": " + what);
                }
            }
        }
    }
}
