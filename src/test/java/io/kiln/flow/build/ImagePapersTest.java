// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Digests;
import io.kiln.base.Log;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.report.JsonSchemas;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The papers beside an image say what is in it and from what it was built. */
class ImagePapersTest {
    @TempDir
    private Path folder;

    @Test
    void thePapersNameEveryPartOfAnImage() throws IOException {
        Path main = folder.resolve("src/main/c/main.c");
        Files.createDirectories(main.getParent());
        Files.writeString(main, """
                /* SPDX-License-Identifier: MIT */
                #include <string.h>
                char to[300];
                volatile unsigned seven = 7;
                unsigned long long from = 1ull << 40;
                int main(void) {
                  memset(to, (int)seven, seven * 30);
                  return (int)(from / seven);
                }
                """);
        GestureProject project = new GestureProject(folder);
        Instant time = Instant.parse("2026-01-02T03:04:05Z");
        build(project.spec("mps2-an386")
                .toolchain(Optional.of("gnu"))
                .timestamp(Optional.of(time))
                .build());
        String text = project.text("gesture.cdx.json");
        assertThat(JsonSchemas.violationsOfCycloneDx(text)).isEmpty();
        JsonNode bill = project.json("gesture.cdx.json");
        assertThat(bill.at("/metadata/timestamp").asText()).isEqualTo("2026-01-02T03:04:05Z");
        assertThat(bill.at("/metadata/component/hashes/0/content").asText())
                .isEqualTo(Digests.sha256(project.out("gesture.elf")));
        assertThat(names(bill))
                .containsExactly(
                        "library Kiln runtime: Apache-2.0",
                        "library Board mps2-an386: Apache-2.0",
                        "machine-learning-model gesture: unknown",
                        "application The project's own code: MIT",
                        "library newlib: the licences in newlib's COPYING.NEWLIB",
                        "library libgcc: GPL-3.0-or-later WITH GCC-exception-3.1");
        assertThat(bill.at("/components/2/hashes/0/content").asText()).isEqualTo(Digests.sha256(GestureProject.MODEL));
        assertThat(bill.at("/components/4/version").asText()).matches("[0-9]+[.][0-9.]+");
        assertThat(bill.at("/components/5/version").asText()).matches("[0-9]+[.][0-9.]+");
        assertThat(project.text("gesture.notice.txt"))
                .startsWith("gesture.elf contains:\n\nKiln runtime ")
                .contains("\nlibgcc 1", "\n  licence: GPL-3.0-or-later WITH GCC-exception-3.1\n");
    }

    @Test
    void theProvenanceNamesInputsAndOutputsByTheirDigests() throws IOException {
        GestureProject project = new GestureProject(folder);
        Path header = folder.resolve("src/main/c/own.h");
        Files.createDirectories(header.getParent());
        Files.writeString(header, "#define OWN 1\n");
        build(project.gnu("mps2-an386"));
        JsonNode statement = project.json("gesture.provenance.json");
        assertThat(statement.path("_type").asText()).isEqualTo("https://in-toto.io/Statement/v1");
        assertThat(statement.path("predicateType").asText()).isEqualTo("https://slsa.dev/provenance/v1");
        for (JsonNode made : statement.path("subject")) {
            assertThat(made.at("/digest/sha256").asText())
                    .isEqualTo(Digests.sha256(project.out(made.path("name").asText())));
        }
        assertThat(statement.path("subject")).hasSize(3);
        JsonNode definition = statement.at("/predicate/buildDefinition");
        assertThat(definition.at("/externalParameters/kiln.board").asText()).isEqualTo("mps2-an386");
        assertThat(definition.at("/internalParameters/toolchain").asText()).isEqualTo("gnu");
        assertThat(definition.path("resolvedDependencies").toString())
                .contains("\"gesture.tflite\",\"digest\":{\"sha256\":\"" + Digests.sha256(GestureProject.MODEL))
                .contains("\"main/own.h\",\"digest\":{\"sha256\":\"" + Digests.sha256(header))
                .contains("board/startup.c");
        String first = project.text("gesture.provenance.json") + project.text("gesture.cdx.json");
        build(project.gnu("mps2-an386"));
        assertThat(project.text("gesture.provenance.json") + project.text("gesture.cdx.json"))
                .isEqualTo(first);
    }

    /** Without a C library of a compiler, Kiln's own functions replace it. */
    @Test
    void anImageOfTheBundledCompilerHasNoOtherLibraries() throws IOException {
        GestureProject project = new GestureProject(folder);
        build(project.spec("mps2-an386").verify(GestureProject.UNVERIFIED).build());
        assertThat(names(project.json("gesture.cdx.json")))
                .containsExactly(
                        "library Kiln runtime: Apache-2.0",
                        "library Board mps2-an386: Apache-2.0",
                        "machine-learning-model gesture: unknown");
    }

    private static List<String> names(JsonNode bill) {
        List<String> names = new ArrayList<>();
        for (JsonNode part : bill.path("components")) {
            JsonNode licence = part.at("/licenses/0");
            String text = licence.path("expression")
                    .asText(licence.at("/license/name").asText());
            names.add(part.path("type").asText() + " " + part.path("name").asText() + ": "
                    + (text.isEmpty() ? "unknown" : text));
        }
        return names;
    }

    private static void build(BuildSpec spec) {
        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET))
                .build(SpecDraft.of(spec).verify(GestureProject.UNVERIFIED).build(), DeviceSpec.USUAL);
    }
}
