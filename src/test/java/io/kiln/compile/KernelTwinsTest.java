// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.DrawnCases;
import io.kiln.codegen.c.UsedIntrinsics;
import io.kiln.draw.RandomOperators;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import io.kiln.target.TestTargets;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The C that stands for a kernel's assembly where that cannot be: it answers as the interpreter does, and nothing overflows. */
class KernelTwinsTest {
    private static final int OPERATORS = DrawnCases.atLeast(40);

    @TempDir
    private Path folder;

    /** Bytes of every kind, the least or the largest ones only, or both of them. */
    private static Bytes input(Function function, int run) {
        byte[] data =
                RandomOperators.input(function.params().get(0).type(), run).toArray();
        for (int i = 0; i < data.length && run > 0; i++) {
            boolean isLeast = run == 1 || (run == 3 && data[i] < 0);
            data[i] = isLeast ? Byte.MIN_VALUE : Byte.MAX_VALUE;
        }
        return Bytes.wrap(data);
    }

    /** Names of the kernels that functions of bytes have on a Cortex-M4, of which the C has answered as the interpreter. */
    private Set<String> answering(List<Function> functions) {
        List<ModelMetadata> models = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        Set<String> names = new TreeSet<>();
        for (Function function : functions) {
            CompiledModel compiled = ModelCompiler.compile(
                    RequestDraft.of(Path.of("m.tflite"), TestTargets.M4)
                            .name("m" + models.size())
                            .build(),
                    function);
            UsedIntrinsics.kernels(compiled.code().functions()).forEach(kernel -> names.add(kernel.name()));
            models.add(compiled.library().metadata());
            artifacts.add(compiled.library().artifacts().artifacts());
        }
        List<Bytes> inputs = new ArrayList<>();
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        for (int run = 0; run < 4; run++) {
            for (Function function : functions) {
                Bytes x = input(function, run);
                inputs.add(x);
                Interpreter.run(function, List.of(x)).forEach(each -> expected.writeBytes(each.toArray()));
            }
        }
        assertThat(HostProgram.build(folder, models, artifacts).run(inputs))
                .as("kernels %s", names)
                .isEqualTo(Bytes.wrap(expected.toByteArray()));
        return names;
    }

    /** Blocks of one to eight channels, weights in pairs and as bytes, with and without inputs added to them. */
    @Test
    void sumsOfDenseLayersStartAtTheBiases() {
        List<Function> layers = LongStream.range(20_000, 20_000 + OPERATORS)
                .mapToObj(RandomOperators::dense)
                .toList();
        assertThat(answering(layers))
                .anyMatch(name -> name.matches("kiln_dense_[13]_\\d+_unroll\\d+_bytes_.*_started.*"))
                .anyMatch(name -> name.matches("kiln_dense_[13]_\\d+_unroll\\d+_scale.*_started.*"))
                .anyMatch(name -> name.matches("kiln_dense_.*_crossed_bytes_.*_started.*"))
                .anyMatch(name -> name.matches("kiln_dense_.*_crossed_scale.*_started.*"))
                .anyMatch(name -> name.matches("kiln_dense_.*_started_signed.*"));
    }

    /** No channel of a rescaling that may list values has any to list. */
    @Test
    void nothingToCorrectNeedsNoCorrection() {
        assertThat(answering(List.of(RandomOperators.ofOnnxRuntime(RandomOperators.mixed(70_098)))))
                .isNotEmpty()
                .noneMatch(name -> name.contains("_listed"));
    }
}
