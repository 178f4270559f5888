// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.ethosu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.KilnException;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Files that Vela made: each is read, its operations are those of its trace, and the C hands it to the driver as TensorFlow Lite Micro does. */
@NeedsShared("ethosu")
class VelaFilesTest {
    private static final Pattern CONFIGURATION = Pattern.compile("-(u[56]5-\\d+)");
    private static final Pattern OPERATION =
            Pattern.compile("#\\d+ at 0x[0-9a-f]+: (\\w+)(?: [A-Z_]+)? (\\d+x\\d+x\\d+).* OFM (\\d):");
    private static final Pattern TRACED =
            Pattern.compile("^\\d+ ([a-z]+) (?:\\d+ )?region (\\d) base0 \\d+ (\\d+x\\d+x\\d+)");

    static List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(SharedFolder.need("ethosu"))) {
            return files.filter(file -> file.toString().endsWith(".tflite"))
                    .sorted()
                    .toList();
        }
    }

    private static String configuration(Path file) {
        Matcher matcher = CONFIGURATION.matcher(file.getFileName().toString());
        assertThat(matcher.find()).isTrue();
        return "ethos-" + matcher.group(1);
    }

    private static CompiledModel compile(Path file, String npu) {
        return ModelCompiler.compile(
                RequestDraft.of(file, "ethos-u -accelerator_config=" + npu + ", c -mcpu=cortex-m55")
                        .build());
    }

    @ParameterizedTest
    @MethodSource("files")
    void theOperationsAreThoseOfTheTrace(Path file) throws IOException {
        CompiledModel compiled = compile(file, configuration(file));
        Artifact stream = compiled.library().artifacts().artifacts().stream()
                .filter(artifact -> artifact.loader().equals("ethos-u"))
                .findFirst()
                .orElseThrow();
        List<String> read = new ArrayList<>();
        for (String line : new EthosUInspector().inspect(List.of(stream))) {
            Matcher operation = OPERATION.matcher(line);
            if (operation.find()) {
                read.add(operation.group(1).toLowerCase(Locale.ROOT) + " " + operation.group(3) + " "
                        + operation.group(2));
            }
        }
        List<String> traced = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(file.toString().replace(".tflite", ".trace.txt")))) {
            Matcher operation = TRACED.matcher(line);
            assertThat(operation.find()).as(line).isTrue();
            traced.add(operation.group(1) + " " + operation.group(2) + " " + operation.group(3));
        }
        assertThat(read).isEqualTo(traced);
        assertThat(compiled.library().metadata().operators())
                .extracting(OperatorInfo::op)
                .containsExactly("tfl.ethos_u", "tfl.ethos_u_tensor");
        assertThat(compiled.library().metadata().constantBytes()).isBetween(Files.size(file) - 2000, Files.size(file));
        assertThat(compiled.library().artifacts().targets())
                .containsEntry("ethos-u", "ethos-u -accelerator_config=" + configuration(file));
    }

    @Test
    void anotherNpuIsRefusedWithBothNames() throws IOException {
        assertThatThrownBy(() -> compile(files().get(0), "ethos-u55-256"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("an ethos-u55-128, and the NPU is an ethos-u55-256");
    }
}
