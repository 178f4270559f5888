// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.toolchain.board.RunnerDefinition.Runners;
import io.kiln.toolchain.yaml.YamlDocument;
import io.kiln.toolchain.yaml.YamlDocument.YamlSchema;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The definitions of runners, and what boards say about them. */
final class RunnersTest {
    private static final String FOLDER = "toolchains/runners/";

    @TempDir
    private Path boards;

    private Board board(String flash) throws IOException {
        Files.createDirectories(boards.resolve("mine"));
        Files.writeString(
                boards.resolve("mine").resolve("board.yaml"),
                "schema: 1\nid: mine\ntitle: Mine\nextends: stm32f405\nflash:\n" + flash.indent(2));
        return Boards.builtIn().with(boards).find("mine");
    }

    @Test
    void builtInDefinitionsAreWrittenAsBoardsWriteTheirs() throws IOException {
        YamlSchema schema = new YamlSchema("board.schema.json");
        for (RunnerDefinition each : Runners.builtIn().values()) {
            assertThat(Runners.unknownPlaceholders(each)).as(each.id()).isEmpty();
            for (RunnerDefinition.Parameter parameter : each.parameters()) {
                parameter
                        .value()
                        .filter(value -> !value.isEmpty())
                        .ifPresent(value -> assertThat(value)
                                .as(each.id() + " " + parameter.name())
                                .matches(parameter.pattern()));
            }
            if (each.procedure().steps().isEmpty()) {
                continue;
            }
            String text = Files.readString(Path.of(FOLDER + each.id() + ".yaml"));
            Problems problems = new Problems(Failure.BOARD);
            schema.check(
                    YamlDocument.parse(
                            each.id(),
                            Bytes.wrap(("schema: 1\nid: mine\nflash:\n  programs:\n    command:\n" + text.indent(6))
                                    .getBytes(StandardCharsets.UTF_8))),
                    problems);
            problems.throwIfAny();
            assertThat(each.program().names()).as(each.id()).isNotEmpty();
            assertThat(each.program().install()).as(each.id()).isNotBlank();
            assertThat(each.procedure().failures()).as(each.id()).hasSizeGreaterThan(4);
        }
        String names = Runners.builtIn().keySet().stream()
                .map(name -> '"' + name + '"')
                .collect(Collectors.joining(", ", "{\"enum\": [\"command\", ", "]}"));
        assertThat(Path.of("toolchains/schemas/board.schema.json")).content().contains(names);
    }

    @Test
    void everyRunnerIsOnThePageAboutFlashing() throws IOException {
        String page = Files.readString(Path.of("src/site/markdown/flashing.md"));
        for (RunnerDefinition each : Runners.builtIn().values()) {
            assertThat(page).contains("| `" + each.id() + "` |");
            each.parameters()
                    .forEach(parameter -> assertThat(page.lines()
                                    .filter(line -> line.startsWith("| `" + each.id() + "`"))
                                    .collect(Collectors.joining()))
                            .contains("`" + parameter.name() + "`"));
        }
    }

    @Test
    void theFirstProgramIsTheUsualOneUnlessThereIsOpenOcd() throws IOException {
        Board beside = board("""
            openocd: {interface: interface/stlink.cfg, target: target/stm32f4x.cfg}
            programs:
              jlink: {device: STM32F405RG, speed: 1000}
            """);
        assertThat(beside.openOcd()).isPresent();
        assertThat(beside.programs()).hasSize(1);
        assertThat(beside.programs()
                        .get(0)
                        .definition()
                        .values(beside.programs().get(0).values()))
                .containsEntry("device", "STM32F405RG")
                .containsEntry("speed", "1000")
                .containsEntry("interface", "SWD");
        Board alone = board("programs: {uf2: {}, dfu-util: {}}");
        assertThat(alone.openOcd()).isEmpty();
        assertThat(alone.programs().stream().map(each -> each.definition().id()))
                .isEqualTo(List.of("uf2", "dfu-util"));
    }

    @Test
    void whatABoardSaysWronglyIsToldWithItsLine() {
        assertThatThrownBy(() -> board("""
            programs:
              jlink: {speed: fast, colour: red}
              pyocd: {target: --help}
            """))
                .hasMessageContaining("4 problems")
                .hasMessageContaining("board.yaml:7: J-Link Commander needs device")
                .hasMessageContaining("board.yaml:7: not a valid speed: 'fast'")
                .hasMessageContaining("J-Link Commander has no parameter colour; expected device, interface, speed")
                .hasMessageContaining("board.yaml:8: not a valid target: '--help'");
        assertThatThrownBy(() -> board("programs: {teensy: {}}")).hasMessageContaining("teensy");
        assertThatThrownBy(() -> board("programs: {uf2: {}}\nprojectApi: {directory: x}"))
                .hasMessageContaining("board.yaml:5");
        assertThatThrownBy(() ->
                        board("programs: {command: {image: hex, programs: [x], steps: [{arguments: ['{file}']}]}}"))
                .hasMessageContaining("unknown placeholder {file}");
        assertThatThrownBy(() -> board(
                        "programs: {command: {image: hex, programs: [x], begins: '(', steps: [{arguments: [a]}]}}"))
                .hasMessageContaining("(");
    }
}
