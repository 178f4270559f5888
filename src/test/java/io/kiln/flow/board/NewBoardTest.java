// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.flow.BoardFlow.BoardDescription;
import io.kiln.flow.BoardFlow.BoardList;
import io.kiln.flow.BoardFlow.NewBoard;
import io.kiln.flow.spec.BoardSources;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NewBoardTest {
    @TempDir
    private Path folder;

    @Test
    void everyBuiltInBoardIsAStart() {
        for (String from : Boards.builtIn().ids()) {
            String id = "my-" + from;
            new NewBoard(Log.QUIET, Boards.builtIn()).write(from, id, folder);
            Board board = Boards.builtIn().with(folder).find(id);
            Board start = Boards.builtIn().find(from);
            assertThat(board.title()).isEqualTo(id + ", like " + from);
            assertThat(board.memories()).isEqualTo(start.memories());
            assertThat(board.files().keySet()).containsAll(board.sources());
            assertThat(folder.resolve(id).resolve("README.md")).doesNotExist();
        }
        assertThat(folder.resolve("my-nucleo-f446re"))
                .isDirectoryContaining("glob:**/kiln_board.h")
                .isDirectoryContaining("glob:**/clock.c")
                .isDirectoryContaining("glob:**/memory.ld");
        assertThat(folder.resolve("my-virtual-stm32f405/memory.ld")).exists();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "../up", "Upper", "a b", ".hidden"})
    void whatIsNoIdIsRefused(String id) {
        assertThatThrownBy(() -> new NewBoard(Log.QUIET, Boards.builtIn()).write("microbit", id, folder))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("not a valid board id")
                .hasMessageContaining("-Dkiln.newBoard=my-sensor");
    }

    @Test
    void aBoardThatIsThereIsNotOverwrittenAndOneThatIsNotTrustedNotCopied() throws IOException {
        NewBoard boards = new NewBoard(Log.QUIET, Boards.builtIn());
        boards.write("microbit", "mine", folder);
        assertThatThrownBy(() -> boards.write("stm32f405", "mine", folder)).hasMessageContaining("mine exists already");

        BoardSources sources =
                new BoardSources(List.of(new BoardSources.Archive(zip(), "com.acme:boards:1")), Set.of());
        assertThatThrownBy(() -> new NewBoard(Log.QUIET, sources.boards(folder)).write("theirs", "ours", folder))
                .hasMessageContaining("not trusted")
                .hasMessageContaining("<trustBoard>com.acme:boards:1:theirs</trustBoard>");
        assertThat(folder.resolve("ours")).doesNotExist();
    }

    @Test
    void anIdTrustsNothingAndTheMessageHasTheCoordinates() throws IOException {
        List<BoardSources.Archive> archives = List.of(new BoardSources.Archive(zip(), "com.acme:boards:1"));
        assertThatThrownBy(() -> new BoardSources(archives, Set.of("theirs")).boards(folder))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("\"theirs\" is not the name of a board from a repository")
                .hasMessageContaining("group:artifact, group:artifact:version or group:artifact:version:id")
                .hasMessageContaining("Write <trustBoard>com.acme:boards:1:theirs</trustBoard>");
        for (String wrong :
                List.of("microbit", "*", "com.acme:", "com.acme:*", "a:b:c:d:e", "com.acme:boards:1:theirs\n")) {
            assertThatThrownBy(() -> new BoardSources(archives, Set.of(wrong)).boards(folder))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("Only boards from repositories need trust");
        }
        BoardSources trusting = new BoardSources(archives, Set.of("com.acme:boards"));
        new NewBoard(Log.QUIET, trusting.boards(folder)).write("theirs", "ours", folder);
        assertThat(folder.resolve("ours/board.yaml")).exists();
    }

    @Test
    void theListSaysWhereBoardsComeFromAndWhichCannotBeUsed() throws IOException {
        new NewBoard(Log.QUIET, Boards.builtIn()).write("microbit", "mine", folder);
        Files.createDirectories(folder.resolve("broken"));
        Files.writeString(folder.resolve("broken/board.yaml"), "schema: 1\nid: broken\n");
        BoardSources sources =
                new BoardSources(List.of(new BoardSources.Archive(zip(), "com.acme:boards:1")), Set.of());
        Boards boards = sources.boards(folder);
        assertThat(new BoardList(boards).lines())
                .anyMatch(line -> line.startsWith("mine") && line.contains("  the project  "))
                .anyMatch(line -> line.startsWith("theirs") && line.contains("  com.acme:boards:1  Theirs"))
                .anyMatch(line -> line.startsWith("mps2-an386") && line.contains("  built in  "))
                .anyMatch(line -> line.startsWith("broken") && line.contains("-Dkiln.board=broken says why"));

        assertThat(new BoardDescription(boards, "theirs").lines())
                .contains(
                        "from       com.acme:boards:1, not trusted: com.acme:boards:1, theirs/board.yaml",
                        "memory     flash (rom, normal): 0x08000000 to 0x0807ffff, 524288 bytes",
                        "toolchain  gnu, no other",
                        "link       -Wl,--defsym=__stack_size=0x2000",
                        "emulator   no emulator of its own; mps2-an386 stands in, with the same objects",
                        "files      board.yaml")
                .anyMatch(line -> line.startsWith("flash      OpenOCD, interface/stlink.cfg, target/stm32f4x.cfg"))
                .anyMatch(line -> line.startsWith("inherited  ") && line.contains("startup.c"));
    }

    private Path zip() throws IOException {
        Path zip = folder.resolveSibling(folder.getFileName() + ".zip");
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(zip))) {
            out.putNextEntry(new ZipEntry("theirs/board.yaml"));
            out.write(
                    "schema: 1\nid: theirs\nextends: nucleo-f446re\ntitle: Theirs\ntoolchain: {require: gnu}\nflags: {symbols: {__stack_size: 8K}}\n"
                            .getBytes(java.nio.charset.StandardCharsets.UTF_8));
            out.closeEntry();
        }
        zip.toFile().deleteOnExit();
        return zip;
    }
}
