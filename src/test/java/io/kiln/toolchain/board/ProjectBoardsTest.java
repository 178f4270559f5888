// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.KilnException;
import io.kiln.base.Printable;
import io.kiln.base.Problem;
import io.kiln.toolchain.board.Board.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Descriptors that a project brings: what they inherit, and what is said about those that are wrong. */
class ProjectBoardsTest {
    private static final String GOOD = """
        schema: 1
        id: mine
        title: Mine
        target: c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=mine
        memories:
          - {name: flash, kind: rom, base: 0x08000000, size: 512K}
          - {name: sram, kind: ram, base: 0x20000000, size: 0x10000}
        pools: {workspace: sram, constants: flash}
        sources: [startup.c]
        linker: memory.ld
        console: {uart: USART1, baud: 115200}
        emulator: {standIn: mps2-an386}
        flash: {openocd: {interface: interface/stlink.cfg, target: target/stm32f4x.cfg, transport: hla_swd}}
        """;

    @TempDir
    private Path boards;

    @Test
    void theConsoleIsInheritedPartByPart() throws IOException {
        String mine = "schema: 1\nid: mine\ntitle: Mine\nextends: nucleo-f446re\n";
        Board.Console inherited =
                Boards.builtIn().find("nucleo-f446re").console().orElseThrow();
        assertThat(inherited.usb()).isNotEmpty();
        write("mine", mine + "console: {uart: USART2, baud: 9600}\n");
        assertThat(mine().console()).contains(new Board.Console("USART2", 9600, inherited.usb()));
        write("mine", mine + "console: {baud: 9600}\n");
        assertThat(mine().console()).contains(new Board.Console(inherited.uart(), 9600, inherited.usb()));
        write("mine", mine + "console: {usb: []}\n");
        assertThat(mine().console()).contains(new Board.Console(inherited.uart(), inherited.baud()));
        write("mine", GOOD.replace("uart: USART1, ", ""));
        assertThat(problems("mine"))
                .extracting(Problem::text)
                .singleElement()
                .asString()
                .startsWith(at(11))
                .contains("\"uart\"");
    }

    private Board mine() {
        return Boards.builtIn().with(boards).find("mine");
    }

    @Test
    void whatIsCopiedToRamLiesInRamThatTheLinkerScriptPlacesItIn() throws IOException {
        String fast = "- {name: sram, kind: ram, base: 0x20000000, size: 0x10000}\n"
                + "  - {name: fast, kind: ram, base: 0x10000000, size: 8K, fetch: code-bus, mirrors: sram}";
        String good = GOOD.replace("- {name: sram, kind: ram, base: 0x20000000, size: 0x10000}", fast)
                .replace("constants: flash", "constants: flash, ramCode: fast");
        write("mine", good);
        Files.writeString(boards.resolve("mine/memory.ld"), "SECTIONS { .ramfunc : { *(.ramfunc .ramfunc.*) } }\n");
        assertThat(mine().pools().orElseThrow().ramCode()).isEqualTo("fast");
        assertThat(mine().memory("fast").orElseThrow().mirrors()).contains("sram");

        write("mine", good.replace("mirrors: sram", "mirrors: flash").replace("ramCode: fast", "ramWeights: flash"));
        assertThat(problems("mine"))
                .extracting(Problem::what)
                .satisfiesExactlyInAnyOrder(
                        what -> assertThat(what).isEqualTo("memory fast mirrors flash, which it cannot"),
                        what -> assertThat(what).isEqualTo("what is copied to RAM lies in flash, which is rom"),
                        what -> assertThat(what).isEqualTo("no linker script places what lies in flash"));
    }

    @Test
    void aUsbIdOrAnAddressOfAnotherFormIsRefused() throws IOException {
        write(
                "mine",
                GOOD.replace("baud: 115200", "baud: 115200, usb: [\"483:374B\"]")
                        .replace("title:", "url: file:///etc\ntitle:"));
        assertThat(problems("mine")).extracting(Problem::where).containsExactlyInAnyOrder(at(3), at(12));
    }

    @Test
    void aProjectsOwnBoardIsRead() throws IOException {
        write("mine", GOOD);
        Board board = Boards.builtIn().with(boards).find("mine");
        assertThat(board.memory("flash").orElseThrow())
                .isEqualTo(new Board.Memory("flash", Kind.ROM, 0x08000000L, 512 << 10));
        assertThat(board.openOcd().orElseThrow().transport()).contains("hla_swd");
        assertThat(Boards.builtIn().with(boards).emulated(board).orElseThrow().id())
                .isEqualTo("mps2-an386");
    }

    @Test
    void aRealProbeNeedsItsInterface() throws IOException {
        write("mine", GOOD.replace("interface: interface/stlink.cfg, ", ""));
        assertThat(problems("mine")).extracting(Problem::where).contains(at(13));
    }

    @Test
    void everythingWrongIsSaidAtOnceWithItsLine() throws IOException {
        write(
                "mine",
                GOOD.replace("baud: 115200", "baud: fast")
                        .replace("title: Mine", "titel: Mine")
                        .replace("size: 512K", "size: 0"));
        List<Problem> problems = problems("mine");
        assertThat(problems).extracting(Problem::where).contains(at(3), at(6), at(11));
        assertThat(problems.toString()).contains("titel");
    }

    /** Each text of a descriptor with each of these in it: the end of the line too, which {@code $} of a pattern lets pass in Java. */
    @Test
    void noTextOfADescriptorActsOnATerminal() throws IOException {
        List<String> texts = List.of(
                "Mine",
                "id: mine",
                "c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=mine",
                "flash, kind",
                "sram, constants",
                "flash}",
                "startup.c",
                "memory.ld",
                "USART1",
                "mps2-an386",
                "interface/stlink.cfg",
                "target/stm32f4x.cfg",
                "hla_swd");
        for (String text : texts) {
            String value = text.replaceAll("id: |, kind|, constants|}", "");
            for (String bad : List.of("\\n", "\\e[2J", "\\u202e", "\\n[INFO] ", "\\0", "\\u2028", "'\\n#error")) {
                write("mine", GOOD.replace(text, text.replace(value, "\"" + value + bad + "\"")));
                assertThat(problems("mine"))
                        .as(text + bad)
                        .isNotEmpty()
                        .allSatisfy(problem -> assertThat(problem.text().codePoints())
                                .allMatch(c -> c == '\n' || Printable.isSafe(c)));
            }
        }
    }

    @Test
    void aTargetIsOfAKindThatRunsByItself() throws IOException {
        write("mine", GOOD.replace("target: c ", "target: llvm "));
        assertThat(Boards.builtIn().with(boards).find("mine").target()).startsWith("llvm -keys");
        for (String target : List.of("llvmjit -mcpu=cortex-m4", "cmsis-nn, c", "c -model='a b'", "cc")) {
            write("mine", GOOD.replace("c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=mine", "\"" + target + "\""));
            assertThat(problems("mine")).extracting(Problem::where).containsExactly(at(4));
        }
    }

    @Test
    void whatTheSchemaCannotSeeIsCheckedToo() throws IOException {
        write(
                "mine",
                GOOD.replace("base: 0x20000000", "base: 0x08040000")
                        .replace("workspace: sram", "workspace: ccm")
                        .replace("linker: memory.ld", "linker: ../memory.ld")
                        .replace("[startup.c]", "[startup.c, uart.c]")
                        .replace("standIn: mps2-an386", "standIn: host"));
        assertThat(problems("mine"))
                .extracting(Problem::text)
                .satisfiesExactlyInAnyOrder(
                        text -> assertThat(text)
                                .startsWith(at(7))
                                .contains("overlaps flash (0x08000000 to 0x0807ffff)"),
                        text -> assertThat(text).startsWith(at(8)).contains("ccm"),
                        text -> assertThat(text).startsWith(at(9)).contains("uart.c is missing"),
                        text -> assertThat(text).startsWith(at(10)).contains("leaves the profile's folder"),
                        text -> assertThat(text).startsWith(at(12)).contains("no emulator of its own"));
    }

    @Test
    void parametersLieInsideAMemoryAndHaveALinkerScript() throws IOException {
        write("mine", GOOD.replace("constants: flash", "constants: flash, parameters: 0x20000000"));
        assertThat(problems("mine"))
                .extracting(Problem::text)
                .satisfiesExactlyInAnyOrder(
                        text -> assertThat(text)
                                .startsWith(at(8))
                                .contains("parameters lie at 0x20000000, which is inside no memory of kind rom"),
                        text -> assertThat(text).startsWith(at(8)).contains("memory.parameters.ld is missing"));
    }

    @Test
    void parametersOfInheritedMemoriesAreNotThoseOfOthers() throws IOException {
        write("smaller", """
            schema: 1
            id: smaller
            title: Half of the flash
            extends: stm32f405
            memories:
              - {name: flash, kind: rom, base: 0x08000000, size: 512K}
              - {name: sram, kind: ram, base: 0x20000000, size: 128K}
            """);
        assertThat(Boards.builtIn().with(boards).find("smaller").parameters()).isEmpty();
        assertThat(Boards.builtIn().find("stm32f405").parameters()).hasValue(0x08080000L);
    }

    @ParameterizedTest
    @CsvSource({
        "0x08080000, 0x080a0000, 256K, 0x20010000, overlap",
        "0x08080000, 0x080f0000, 128K, 0x20010000, do not lie inside the board's memories",
        "0x08000080, 0x08080000, 256K, 0x20010000, do not lie inside the board's memories",
        "0x08080000, 0x080c0000, 256K, 0x20020000, do not lie inside the board's memories",
        "0x08080010, 0x080c0000, 128K, 0x20010000, are not flash sectors"
    })
    void slotsLieApartInsideTheMemories(String first, String second, String size, String memory, String why)
            throws IOException {
        write("mine", String.format(Locale.ROOT, """
            schema: 1
            id: mine
            title: Mine
            extends: stm32f405
            pools:
              workspace: sram
              constants: flash
              slots: {first: %s, second: %s, size: %s, memory: %s}
            """, first, second, size, memory));
        assertThat(problems("mine"))
                .extracting(Problem::text)
                .singleElement()
                .asString()
                .startsWith(at(8))
                .contains("the slots at " + first, why);
    }

    @Test
    void profilesThatExtendEachOtherAreRefused() throws IOException {
        write("a", "schema: 1\nid: a\nextends: b\n");
        write("b", "schema: 1\nid: b\nextends: a\n");
        assertThat(problems("a")).extracting(Problem::text).anyMatch(text -> text.contains("a → b → a"));
    }

    @Test
    void aMissingBaseAndAWrongIdAreNamed() throws IOException {
        write("mine", "schema: 1\nid: yours\nextends: nothing\n");
        assertThat(problems("mine")).extracting(Problem::where).contains(at(2), at(3));
    }

    @Test
    void brokenYamlNamesTheLine() throws IOException {
        write("mine", "schema: 1\nid: [mine\n");
        assertThat(problems("mine"))
                .singleElement()
                .extracting(Problem::where)
                .asString()
                .startsWith(at(3));
        write("mine", "schema: 1\nid: mine\nid: mine\n");
        assertThat(problems("mine")).singleElement().extracting(Problem::where).isEqualTo(at(3));
        write("mine", "- schema\n");
        assertThat(problems("mine")).hasSize(1);
    }

    @Test
    @Timeout(5)
    void yamlBombsAreRefused() throws IOException {
        StringBuilder bomb = new StringBuilder("a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n");
        for (int i = 1; i < 12; i++) {
            bomb.append("a").append(i).append(": &a").append(i).append(" [");
            bomb.append(("*a" + (i - 1) + ", ").repeat(9))
                    .append("*a")
                    .append(i - 1)
                    .append("]\n");
        }
        write("mine", bomb.toString());
        assertThat(problems("mine")).isNotEmpty();
        write("mine", "a: &a\n  b: *a\n");
        assertThat(problems("mine")).isNotEmpty();
        write("mine", "a: " + "[".repeat(10_000) + "]".repeat(10_000));
        assertThat(problems("mine")).isNotEmpty();
        write("mine", "a: " + "x".repeat(100_000));
        assertThat(problems("mine")).isNotEmpty();
    }

    @Test
    void aLinkOutOfTheFolderIsRefused() throws IOException {
        write("mine", GOOD);
        Files.delete(boards.resolve("mine/memory.ld"));
        Files.writeString(boards.resolve("outside.ld"), "secret");
        Files.createSymbolicLink(boards.resolve("mine/memory.ld"), boards.resolve("outside.ld"));
        assertThat(problems("mine"))
                .singleElement()
                .extracting(Problem::what)
                .asString()
                .contains("leads out");
    }

    private void write(String id, String yaml) throws IOException {
        Path folder = Files.createDirectories(boards.resolve(id));
        Files.writeString(folder.resolve("board.yaml"), yaml);
        Files.writeString(folder.resolve("startup.c"), "int x;\n");
        Files.writeString(folder.resolve("memory.ld"), "SECTIONS { }\n");
    }

    private String at(int line) {
        return boards.resolve("mine/board.yaml") + ":" + line;
    }

    private List<Problem> problems(String id) {
        KilnException thrown = catchThrowableOfType(
                KilnException.class, () -> Boards.builtIn().with(boards).find(id));
        assertThat(thrown).isNotNull();
        return thrown.problems();
    }
}
