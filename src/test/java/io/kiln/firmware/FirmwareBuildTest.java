// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.firmware.image.ImageFiles.Image;
import io.kiln.firmware.image.Measurement;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class FirmwareBuildTest {
    @TempDir
    Path folder;

    static Stream<Arguments> boardsAndToolchains() {
        return Boards.builtIn().ids().stream()
                .flatMap(board -> (board.equals("host") ? Stream.of("host") : Stream.of("gnu", "clang"))
                        .map(toolchain -> Arguments.of(board, toolchain)));
    }

    @ParameterizedTest
    @MethodSource("boardsAndToolchains")
    void everyBoardIsLinkedAndMeasuredWithEveryToolchain(String board, String toolchain) {
        Image image = TestFirmware.build(TestFirmware.request(board, toolchain, folder), folder, Log.QUIET);

        Measurement measured = image.measurement();
        assertThat(measured.ram().workspace()).isEqualTo(256);
        assertThat(measured.ram().io()).isEqualTo(32);
        assertThat(measured.flash().constants()).isBetween(1000L, 3000L);
        assertThat(measured.flash().text()).isBetween(1000L, 12_000L);
        assertThat(measured.fits()).isTrue();
        assertThat(image.files()).allSatisfy(file -> assertThat(file).isNotEmptyFile());
        assertThat(measured.largest()).isSortedAccordingTo((a, b) -> Long.compare(b.bytes(), a.bytes()));
        assertThat(measured.largest())
                .anySatisfy(item -> assertThat(item).isEqualTo(new Measurement.Item("table", 1000, false)));
        if (!board.equals("host")) {
            assertThat(image.files()).hasSize(4);
            assertThat(measured.ram().stack()).isGreaterThanOrEqualTo(1024);
            assertThat(measured.flash().available()).isPresent();
            assertThat(measured.regions().stream()
                            .mapToLong(Measurement.Region::used)
                            .sum())
                    .isEqualTo(measured.flash().total() + measured.ram().total());
        }
    }

    @Test
    void aStandInRunsTheVeryObjectsOfTheBoard() throws IOException {
        FirmwareRequest request = TestFirmware.request("stm32f405", "gnu", folder);
        CompiledObjects objects = FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET);
        Board standIn = TestFirmware.board("mps2-an386");
        FirmwareProject second =
                FirmwareAssembler.assemble(request.on(standIn, folder.resolve("target/kiln/stand-in")), Log.QUIET);

        CompiledObjects shared = FirmwareCompiler.compileStandIn(second, objects, Log.QUIET);
        Image image = FirmwareLinker.link(shared, folder.resolve("target/kiln/stand-in"), "app", Log.QUIET);

        List<String> compiledAgain = shared.rebuilt();
        assertThat(compiledAgain).isNotEmpty().allMatch(path -> path.startsWith("board/"));
        assertThat(shared.files().get("codegen/host/src/default_lib1.c"))
                .isEqualTo(objects.files().get("codegen/host/src/default_lib1.c"));
        assertThat(image.measurement().regions().get(0).name())
                .isEqualTo(standIn.memories().get(0).name());
    }
}
