// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.reference.GoldenModels;
import io.kiln.toolchain.compiler.ClangObjects;
import io.kiln.toolchain.compiler.TestToolchains;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Golden models as objects of LLVM on this machine, with the schedules of several cores; all of them with {@code -Dkiln.golden=all}. The
 * objects are for this machine in any case.
 */
class LlvmGoldenSetTest {
    private static final int SHARES = 12;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "0, llvm, SPEED",
        "1, llvm -mcpu=cortex-m4, SPEED",
        "2, llvm -mcpu=cortex-m4, SIZE",
        "3, llvm -mcpu=cortex-m55, SPEED",
        "4, llvm -march=rv32imac, RAM"
    })
    void answersAsTheReferenceKernelsDo(int share, String target, Optimize optimize) {
        List<String> models = GoldenModels.neededShare(share, SHARES);
        ClangObjects clang = ClangObjects.of("llvm", optimize, List.of(), TestToolchains.environment(Log.QUIET));
        List<ModelMetadata> metadata = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        for (String model : models) {
            CompiledModel compiled = ModelCompiler.compile(CompileRequest.builder(GoldenModels.model(model), target)
                    .name("golden" + metadata.size())
                    .optimize(optimize)
                    .objects(Optional.of(clang))
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
