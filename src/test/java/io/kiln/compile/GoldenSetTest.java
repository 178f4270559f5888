// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.reference.GoldenModels;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every golden model in C on this machine under sanitizers, a share of them for each way to optimize; all of them with
 * {@code -Dkiln.golden=all}.
 */
class GoldenSetTest {
    private static final String DSP = "c -keys=arm_cpu,cpu -mcpu=cortex-m4";
    private static final int SHARES = 6;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"0, SPEED", "1, SIZE", "2, RAM"})
    void answersAsTheReferenceKernelsDo(int share, Optimize optimize) {
        List<String> models = GoldenModels.neededShare(share, SHARES);
        List<ModelMetadata> metadata = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        for (String model : models) {
            CompiledModel compiled = ModelCompiler.compile(CompileRequest.builder(GoldenModels.model(model), DSP)
                    .name("golden" + metadata.size())
                    .optimize(optimize)
                    .build());
            metadata.add(compiled.library().metadata());
            artifacts.add(compiled.library().artifacts().artifacts());
        }
        HostProgram program = HostProgram.build(folder, metadata, artifacts);
        for (int k = 0; k < 3; k++) {
            List<Bytes> inputs = new ArrayList<>();
            for (String model : models) {
                inputs.add(GoldenModels.input(model, k));
            }
            byte[] actual = program.run(inputs).toArray();
            int at = 0;
            for (int i = 0; i < models.size(); i++) {
                List<TensorInfo> outputs = metadata.get(i).outputs();
                int size = (int) outputs.stream().mapToLong(TensorInfo::bytes).sum();
                Bytes own = Bytes.wrap(Arrays.copyOfRange(actual, at, at + size));
                Bytes expected = GoldenModels.output(models.get(i), k);
                assertThat(GoldenModels.agree(expected, own, GoldenModels.outputs(metadata.get(i))))
                        .as("%s case %d", models.get(i), k)
                        .isTrue();
                at += size;
            }
        }
    }
}
