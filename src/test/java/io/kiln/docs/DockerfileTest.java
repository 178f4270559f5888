// SPDX-License-Identifier: Apache-2.0
package io.kiln.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.device.emulator.Emulator;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The Dockerfile of the pages has known instructions, and the packages of every emulator that a board needs. */
class DockerfileTest {
    private static final Pattern INSTRUCTION =
            Pattern.compile("(FROM|RUN|ENV|WORKDIR|ENTRYPOINT|CMD|COPY|ARG|USER) \\S.*");

    @Test
    void itHasWhatBuildsNeed() {
        List<DocBlock> blocks = DocBlock.toCheck("dockerfile");
        assertThat(blocks).isNotEmpty();
        for (DocBlock block : blocks) {
            String text = block.text().replaceAll("\\\\\n\\s*", "");
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
        }
    }
}
