// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.reference.GoldenModels;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;

/** Models in one program on this machine, held against the answers that lie beside them. */
final class GoldenAnswers {
    private static final int CASES = 3;

    private GoldenAnswers() {}

    /**
     * Compiles and runs models.
     *
     * @param folder for the program
     * @param models folders with a model and its cases
     * @param target target string of all of them
     * @param request completes the request of each
     */
    static void check(Path folder, List<Path> models, String target, UnaryOperator<RequestDraft> request) {
        List<ModelMetadata> metadata = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        for (Path model : models) {
            RequestDraft builder =
                    RequestDraft.of(model.resolve("model.tflite"), target).name("golden" + metadata.size());
            CompiledModel compiled =
                    ModelCompiler.compile(request.apply(builder).build());
            metadata.add(compiled.library().metadata());
            artifacts.add(compiled.library().artifacts().artifacts());
        }
        HostProgram program = HostProgram.build(folder, metadata, artifacts);
        for (int k = 0; k < CASES; k++) {
            List<Bytes> inputs = new ArrayList<>();
            for (Path model : models) {
                inputs.add(GoldenModels.read(model.resolve("input_" + k + ".bin")));
            }
            check(models, metadata, k, program.run(inputs).toArray());
        }
    }

    private static void check(List<Path> models, List<ModelMetadata> metadata, int k, byte[] actual) {
        int at = 0;
        for (int i = 0; i < models.size(); i++) {
            List<TensorInfo> outputs = metadata.get(i).outputs();
            int size = (int) outputs.stream().mapToLong(TensorInfo::bytes).sum();
            Bytes own = Bytes.wrap(Arrays.copyOfRange(actual, at, at + size));
            Bytes expected = GoldenModels.read(models.get(i).resolve("output_" + k + ".bin"));
            assertThat(GoldenModels.agree(expected, own, GoldenModels.outputs(metadata.get(i))))
                    .as("%s case %d", models.get(i), k)
                    .isTrue();
            at += size;
        }
    }
}
