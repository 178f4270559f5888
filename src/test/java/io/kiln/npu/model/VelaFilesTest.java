// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every file of Vela's on the model of the NPU: its answers are the reference kernels', and its operations those of the traces. */
@NeedsShared({"ethosu", "golden"})
class VelaFilesTest {
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

    private static List<Path> files() throws IOException {
        try (Stream<Path> all = Files.list(SharedFolder.need("ethosu"))) {
            return all.filter(file -> file.toString().endsWith(".tflite"))
                    .sorted()
                    .toList();
        }
    }
}
