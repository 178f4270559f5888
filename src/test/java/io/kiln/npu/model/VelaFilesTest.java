// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DrawnCases;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Function;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.Interpreter;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every file of Vela's on the model of the NPU: its answers are the reference kernels', and its operations those of the traces. */
@NeedsShared({"ethosu", "golden"})
class VelaFilesTest {
    private static final long SEED = 20260404;

    @TempDir
    private Path folder;

    @Test
    void everyFileAnswersAsTheReferenceKernelsDo() throws IOException {
        NpuHost host = NpuHost.compile(folder);
        List<Path> files = files();
        assertThat(files).isNotEmpty();
        for (Path file : files) {
            String name = file.getFileName().toString();
            Path golden = GoldenModels.folder(name.substring(0, name.lastIndexOf("-u")));
            List<Bytes> cases = new ArrayList<>();
            ByteArrayOutputStream expected = new ByteArrayOutputStream();
            for (int i = 0; Files.exists(golden.resolve("input_" + i + ".bin")); i++) {
                cases.add(Bytes.wrap(Files.readAllBytes(golden.resolve("input_" + i + ".bin"))));
                expected.writeBytes(Files.readAllBytes(golden.resolve("output_" + i + ".bin")));
            }
            NpuHost.Answer answer = host.run(VelaFile.read(file).job(cases));
            assertThat(answer.exitCode()).as(name + "\n" + answer.text()).isZero();
            assertThat(answer.taken()).as(name).isEqualTo(Bytes.wrap(expected.toByteArray()));
            Path trace = file.resolveSibling(name.replace(".tflite", ".trace.txt"));
            assertThat(answer.lines(0)).as(name).isEqualTo(Files.readAllLines(trace));
        }
    }

    /** As many as a job has room for, and more by {@code kiln.cases}. */
    @ParameterizedTest
    @CsvSource({"hello_world_int8-u55-128, 60", "micro_kws_xs-u55-128, 20", "kws_ref_model-u65-512-dedicated, 2"})
    void randomInputsAreAnsweredAsByTheOriginal(String name, int cases) {
        VelaFile file = VelaFile.read(SharedFolder.need("ethosu").resolve(name + ".tflite"));
        Function original = TfliteFrontend.read(GoldenModels.model(name.substring(0, name.lastIndexOf("-u"))), "m");
        NpuHost host = NpuHost.compile(folder);
        Random random = new Random(SEED);
        for (int round = 0; round < Math.max(1, DrawnCases.atLeast(cases) / cases); round++) {
            List<Bytes> inputs = new ArrayList<>();
            ByteArrayOutputStream expected = new ByteArrayOutputStream();
            for (int i = 0; i < cases; i++) {
                byte[] input = new byte[file.inputs().get(0).bytes()];
                random.nextBytes(input);
                inputs.add(Bytes.wrap(input));
                Interpreter.run(original, List.of(Bytes.wrap(input)))
                        .forEach(output -> expected.writeBytes(output.toArray()));
            }
            assertThat(host.run(file.job(inputs)).taken()).isEqualTo(Bytes.wrap(expected.toByteArray()));
        }
    }

    private static List<Path> files() throws IOException {
        try (Stream<Path> all = Files.list(SharedFolder.need("ethosu"))) {
            return all.filter(file -> file.toString().endsWith(".tflite"))
                    .sorted()
                    .toList();
        }
    }
}
