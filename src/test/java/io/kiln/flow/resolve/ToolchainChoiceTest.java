// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.flow.resolve.Resolver.ToolchainChoice;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ToolchainChoiceTest {
    @TempDir
    private Path boards;

    @Test
    void theBuildsWordCountsBeforeTheBoards() throws IOException {
        assertThat(ToolchainChoice.of(Optional.empty(), board(""))).isEqualTo("clang");
        assertThat(ToolchainChoice.of(Optional.of("gnu"), board(""))).isEqualTo("gnu");
        Board prefers = board("toolchain: gnu\n");
        assertThat(ToolchainChoice.of(Optional.empty(), prefers)).isEqualTo("gnu");
        assertThat(ToolchainChoice.of(Optional.of("clang"), prefers)).isEqualTo("clang");
        assertThat(ToolchainChoice.of(Optional.empty(), Boards.builtIn().find("host")))
                .isEqualTo("host");
    }

    @Test
    void whatTheBoardRequiresIsNotOverridden() throws IOException {
        Board requires = board("toolchain: {require: gnu}\n");
        assertThat(ToolchainChoice.of(Optional.empty(), requires)).isEqualTo("gnu");
        assertThat(ToolchainChoice.of(Optional.of("gnu"), requires)).isEqualTo("gnu");
        assertThatThrownBy(() -> ToolchainChoice.of(Optional.of("clang"), requires))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("toolchain gnu only, but the build asks for clang")
                .hasMessageContaining("mine/board.yaml:4");
    }

    private Board board(String more) throws IOException {
        Path folder = Files.createDirectories(boards.resolve("mine"));
        Files.writeString(folder.resolve("board.yaml"), "schema: 1\nid: mine\nextends: mps2-an386\n" + more);
        return Boards.builtIn().with(boards).find("mine");
    }
}
