// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.Convention;
import io.kiln.artifact.ModelMetadata.Io;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/**
 * The generated C of the example model, kept under review: {@code -Dgolden.update=true} writes it anew, for the diff.
 */
class GoldenCTest {
    private static final Path MODEL = Path.of("src", "it", "quickstart", "src", "main", "model", "gesture.tflite");
    private static final Path GOLDEN = Path.of("src", "test", "resources", "io", "kiln", "compile", "generated");

    @ParameterizedTest
    @EnumSource(Io.class)
    void theExampleModelsCodeIsAsReviewed(Io io) throws IOException {
        CompileRequest request = RequestDraft.of(MODEL, "c -keys=arm_cpu,cpu -mcpu=cortex-m4")
                .name("gesture")
                .io(io)
                .build();
        review(request, io.text());
    }

    @ParameterizedTest
    @EnumSource(value = Convention.class, mode = Mode.EXCLUDE, names = "TYPED")
    void itsPackedFunctionsAreAsReviewed(Convention convention) throws IOException {
        CompileRequest request = RequestDraft.of(MODEL, "c -keys=arm_cpu,cpu -mcpu=cortex-m4")
                .name("gesture")
                .convention(convention)
                .build();
        review(request, convention == Convention.PACKED ? "packed" : "packed-entry");
    }

    private static void review(CompileRequest request, String folder) throws IOException {
        for (Artifact artifact :
                ModelCompiler.compile(request).library().artifacts().artifacts()) {
            if (artifact.kind() == ArtifactKind.SOURCE || artifact.kind() == ArtifactKind.HEADER) {
                Path golden = GOLDEN.resolve(folder).resolve(artifact.fileName());
                if (Boolean.getBoolean("golden.update")) {
                    Files.createDirectories(golden.getParent());
                    Files.writeString(golden, artifact.text());
                }
                assertThat(artifact.text()).isEqualTo(Files.readString(golden));
            }
        }
    }
}
