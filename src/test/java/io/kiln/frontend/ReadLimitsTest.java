// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.compile.Frontends;
import io.kiln.compile.ReadOptions;
import io.kiln.firmware.TestFirmware;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.BoardMemories;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReadLimitsTest {
    private static final long USUAL = 32L << 20;

    @TempDir
    Path folder;

    @Test
    void theLimitIsFourTimesTheMemoriesOfTheBoard() {
        assertThat(limits(1 << 20).most(USUAL)).isEqualTo(USUAL);
        assertThat(limits(64 << 20).most(USUAL)).isEqualTo(256L << 20);
        assertThat(limits(Long.MAX_VALUE).most(USUAL)).isEqualTo(Integer.MAX_VALUE - 8L);
    }

    @Test
    void theUserRaisesAndLowersIt() {
        assertThat(new ReadLimits(OptionalLong.of(100L << 20), 1 << 20, Optional.empty()).most(USUAL))
                .isEqualTo(100L << 20);
        ReadLimits low = new ReadLimits(OptionalLong.of(10), 1L << 30, Optional.empty());
        assertThatCode(() -> low.check(10, "m.tflite", USUAL)).doesNotThrowAnyException();
        assertThatThrownBy(() -> low.check(11, "m.tflite", USUAL))
                .isInstanceOf(KilnException.class)
                .hasMessageContainingAll("m.tflite", "11 bytes", "at most 10 bytes (kiln.limit.model)");
    }

    @Test
    void thisComputerHasNoLimitButTheHeap() {
        ReadLimits host = limits(TestFirmware.board("host"));
        assertThat(host.boardBytes()).isEqualTo(ReadLimits.hostBytes());
        ReadLimits board = limits(TestFirmware.board("mps2-an386"));
        assertThat(board.boardBytes()).isLessThan(1L << 30).isPositive();
    }

    /** A board of a stranger may claim any memory. */
    @Test
    void noBoardRaisesItAboveThatOfThisComputer() {
        Board real = TestFirmware.board("mps2-an386");
        Board.Memory one = real.memories().get(0);
        Board.Memory huge = new Board.Memory(one.name(), one.kind(), one.base(), 1L << 40, one.timing(), one.wiring());
        Board board = new Board(
                real.identity(),
                real.target(),
                new BoardMemories(List.of(huge), real.memoryMap().pools()),
                real.support(),
                real.hardware(),
                real.building());
        assertThat(limits(board).boardBytes()).isEqualTo(ReadLimits.hostBytes());
    }

    @ParameterizedTest
    @ValueSource(strings = {"m.tflite", "m.onnx", "m.relay"})
    void everyFormatNamesTheParameterAndObeysIt(String name) throws IOException {
        Path file = folder.resolve(name);
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(129L << 20);
        }
        assertThatThrownBy(() -> Frontends.read(file, "m", InputShapes.NONE, ReadOptions.DEFAULT))
                .isInstanceOf(KilnException.class)
                .hasMessageContainingAll(name, "135,266,304 bytes", "raise kiln.limit.model");
        ReadOptions raised = ReadOptions.parse("model", "micro", Optional.of("129M"), Optional.empty());
        assertThatThrownBy(() -> Frontends.read(file, "m", InputShapes.NONE, raised))
                .isInstanceOf(KilnException.class)
                .hasMessageNotContaining("kiln.limit.model");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "-1", "1T", "4 M", "abc"})
    void aLimitIsASize(String text) {
        assertThatThrownBy(() -> ReadOptions.parse("model", "micro", Optional.of(text), Optional.empty()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kiln.limit.model is '" + text + "'");
    }

    private static ReadLimits limits(Board board) {
        Layout layout = new Layout(Path.of("."), Path.of("out"), "net");
        return SpecDraft.of(layout, List.of(), board.id())
                .build()
                .options(board)
                .reading()
                .limits();
    }

    private static ReadLimits limits(long boardBytes) {
        return new ReadLimits(OptionalLong.empty(), boardBytes, Optional.empty());
    }
}
