// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Boards that another one's Project API server builds and flashes. */
class BoardProjectTest {
    @TempDir
    private Path folder;

    @Test
    void aProjectApiServerNeedsTrust() throws IOException {
        Map<String, String> files = Map.of("theirs/board.yaml", """
                schema: 1
                id: theirs
                extends: stm32f405
                flash: {projectApi: {directory: template, options: {port: /dev/ttyACM0, verbose: true, baud: 9600}}}
                """);
        Path zip = BoardZip.of(folder.resolve("boards.zip"), files);
        assertThatThrownBy(() -> Boards.builtIn()
                        .with(zip, "com.acme:boards:1.2.0", Set.of())
                        .find("theirs"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("a Project API server, which is a program that runs with your rights")
                .hasMessageContaining("board.yaml:4")
                .hasMessageContaining("<trustBoard>com.acme:boards:1.2.0:theirs</trustBoard>");
        Board trusted = Boards.builtIn()
                .with(zip, "com.acme:boards:1.2.0", Set.of("com.acme:boards:1.2.0:theirs"))
                .find("theirs");
        assertThat(trusted.projectApi())
                .contains(new Flashing.ProjectApi(
                        "template", Map.of("port", "/dev/ttyACM0", "verbose", "true", "baud", "9600")));
        assertThat(trusted.openOcd()).isEmpty();
    }

    @Test
    void aFlashServiceNeedsTrust() throws IOException {
        Map<String, String> files = Map.of("theirs/board.yaml", """
                schema: 1
                id: theirs
                extends: stm32f405
                flash: {service: {name: acme-link, options: {speed: 4000}}}
                """);
        Path zip = BoardZip.of(folder.resolve("boards.zip"), files);
        assertThatThrownBy(() -> Boards.builtIn()
                        .with(zip, "com.acme:boards:1.2.0", Set.of())
                        .find("theirs"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("options for a flash service, which is a program that runs with your rights")
                .hasMessageContaining("board.yaml:4");
        Board trusted = Boards.builtIn()
                .with(zip, "com.acme:boards:1.2.0", Set.of("com.acme:boards:1.2.0:theirs"))
                .find("theirs");
        assertThat(trusted.flashService()).contains(new Flashing.Service("acme-link", Map.of("speed", "4000")));
        assertThat(trusted.openOcd()).isEmpty();
    }
}
