// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole;
import io.kiln.npu.model.NpuImage;
import io.kiln.npu.model.VelaFile;
import io.kiln.process.RunningProcess;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import io.kiln.toolchain.board.Board;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The model of the NPU on a Cortex-M55 and a Cortex-M33 in the emulator. */
class NpuOnBoardTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int CONFIG = 0x10006009;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"mps3-an547, clang", "mps2-an505, gnu"})
    void operationsOfAllKindsLeaveWhatTheFormulasSay(String board, String toolchain) {
        List<String> checksums = NpuImage.ofOperations(folder.resolve("main"), CONFIG);
        assertThat(console(board, toolchain).stream().map(line -> line.substring(line.length() - 8)))
                .isEqualTo(checksums);
    }

    @Test
    @NeedsShared({"ethosu", "golden"})
    void aFileOfVelasHasTheOperationsOfItsTrace() throws IOException {
        String name = "kws_ref_model-u55-128";
        Path files = SharedFolder.need("ethosu");
        Path input = GoldenModels.folder("kws_ref_model").resolve("input_0.bin");
        NpuImage.of(
                folder.resolve("main"),
                VelaFile.read(files.resolve(name + ".tflite")),
                Bytes.wrap(Files.readAllBytes(input)));
        assertThat(console("mps3-an547", "gnu")).isEqualTo(Files.readAllLines(files.resolve(name + ".trace.txt")));
    }

    /** What the image tells before it ends. */
    private List<String> console(String id, String toolchain) {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        Path image = HandWrittenModel.build(board, toolchain, Io.CALLER, folder);
        StringBuilder text = new StringBuilder();
        try (RunningProcess process = Emulator.of(board, LIMIT).start(image)) {
            ImageConsole.follow(process.output(), LIMIT, text::append, piece -> text.indexOf("end\n") >= 0);
        }
        return text.substring(0, text.indexOf("end\n")).lines().toList();
    }
}
