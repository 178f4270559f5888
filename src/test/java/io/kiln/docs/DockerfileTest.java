// SPDX-License-Identifier: Apache-2.0
package io.kiln.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.device.emulator.Emulator;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The Dockerfile of the pages has known instructions, and the packages of every emulator that a board needs. */
class DockerfileTest {
    private static final Path CONTAINER =
            Path.of("src/main/archetypes/kiln-firmware/archetype-resources/.devcontainer");
    private static final Pattern INSTRUCTION =
            Pattern.compile("(FROM|RUN|ENV|WORKDIR|ENTRYPOINT|CMD|COPY|ARG|USER) \\S.*");

    @Test
    void itHasWhatBuildsNeed() throws IOException {
        List<String> texts = new ArrayList<>();
        DocBlock.toCheck("dockerfile").forEach(block -> texts.add(block.text()));
        texts.add(Files.readString(CONTAINER.resolve("Dockerfile")));
        assertThat(texts).hasSize(2);
        String setUp = Files.readString(Path.of("src/setup/setup.sh"));
        for (String each : texts) {
            String text = each.replaceAll("\\\\\n\\s*", "");
            assertThat(text.lines()).allMatch(line -> INSTRUCTION.matcher(line).matches());
            assertThat(text).startsWith("FROM maven:3.9-eclipse-temurin-17").contains("KILN_HOME");
            Matcher packages = Pattern.compile("apt-get install -y --no-install-recommends ([a-z0-9 -]+?) *&&")
                    .matcher(text);
            assertThat(packages.find()).isTrue();
            List<String> installed = List.of(packages.group(1).split(" +", -1));
            List<String> needed = Boards.builtIn().ids().stream()
                    .map(Boards.builtIn()::find)
                    .filter(board -> board.emulation() instanceof Emulation.Qemu)
                    .map(board -> Emulator.debianPackage(((Emulation.Qemu) board.emulation()).program()))
                    .distinct()
                    .toList();
            assertThat(installed).containsAll(needed);
            assertThat(needed).hasSize(2);
            assertThat(installed)
                    .as("packages that the tests' machine installs, too")
                    .allSatisfy(name -> assertThat(setUp).containsPattern("[ \"]" + name + "\""));
        }
    }

    @Test
    void theDevContainerBuildsItAndHasTheEditorsExtensions() throws IOException {
        ObjectMapper json = new ObjectMapper();
        JsonNode container =
                json.readTree(CONTAINER.resolve("devcontainer.json").toFile());
        assertThat(CONTAINER.resolve(container.at("/build/dockerfile").asText()))
                .exists();
        assertThat(container.at("/customizations/vscode/extensions"))
                .isEqualTo(json.readTree(CONTAINER
                                .resolveSibling(".vscode/extensions.json")
                                .toFile())
                        .get("recommendations"));
        assertThat(container.get("mounts").get(0).asText())
                .contains("target="
                        + Files.readString(CONTAINER.resolve("Dockerfile"))
                                .replaceFirst("(?s).*KILN_HOME=(\\S+).*", "$1"));
    }
}
