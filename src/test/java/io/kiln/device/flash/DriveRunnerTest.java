// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.device.flash.DriveRunner.Uf2Drives;
import io.kiln.device.flash.FlashFailure.Kind;
import io.kiln.device.flash.FlashRunner.FlashImage;
import io.kiln.device.flash.FlashRunner.FlashImage.Segment;
import io.kiln.device.flash.FlashRunner.FlashResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A folder in place of a boot loader's drive: it loses its file of information when it has all blocks, as a drive vanishes. */
final class DriveRunnerTest {
    private static final OptionalLong RP2040 = OptionalLong.of(0xe48bff56L);
    private static final int BLOCK = 512;

    @TempDir
    private Path folder;

    private final FlashImage image = FlashImage.of(List.of(
            new Segment(0x10000000L, Bytes.wrap(new byte[] {0, 1, 2, 3})),
            new Segment(0x10002000L, Bytes.wrap(new byte[300]))));

    private Path drive(String name) throws IOException {
        Path drive = Files.createDirectories(folder.resolve(name));
        Files.writeString(
                drive.resolve(Uf2Drives.INFO),
                "UF2 Bootloader v3.0\r\nModel: Raspberry Pi RP2\r\nBoard-ID: RPI-RP2\r\n");
        return drive;
    }

    private FlashResult flash(Path drive, String boardId, OptionalLong family) {
        Probe probe = new Probe.Serial(drive.toString());
        return new DriveRunner(List.of(probe), boardId, family, Duration.ofSeconds(1))
                .flash(probe, image, FlashProgress.QUIET);
    }

    @Test
    void theDriveGetsTheImageAndVanishes() throws IOException {
        Path drive = drive("RPI-RP2");
        Path file = drive.resolve("kiln.uf2");
        CompletableFuture<Void> board = CompletableFuture.runAsync(() -> {
            try {
                while (!Files.exists(file) || Files.size(file) < 3 * BLOCK) {
                    Thread.onSpinWait();
                }
                Files.delete(drive.resolve(Uf2Drives.INFO));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        FlashResult result = flash(drive, "RPI-RP2", RP2040);
        board.join();
        assertThat(result.failure()).isEmpty();
        byte[] content = Files.readAllBytes(file);
        assertThat(content).hasSize(3 * BLOCK);
        // The first block as Microsoft's format and the Pico's documents have it.
        assertThat(HexFormat.of().formatHex(content, 0, 36))
                .isEqualTo("5546320a57515d9e0020000000000010000100000000000003000000" + "56ff8be400010203");
        assertThat(ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).getInt(2 * BLOCK + 12))
                .isEqualTo(0x10002100);
    }

    @Test
    void aDriveThatStaysHasRefusedTheFile() throws IOException {
        FlashFailure failure = flash(drive("RPI-RP2"), "", RP2040).failure().orElseThrow();
        assertThat(failure.kind()).isEqualTo(Kind.WRONG_CHIP);
        assertThat(failure.text()).contains("the drive is still there after 1000 ms");
    }

    @Test
    void anotherBoardsDriveIsNotWritten() throws IOException {
        Path drive = drive("RPI-RP2");
        FlashFailure failure = flash(drive, "RP2350", RP2040).failure().orElseThrow();
        assertThat(failure.kind()).isEqualTo(Kind.WRONG_CHIP);
        assertThat(failure.text()).contains("its Board-ID is RPI-RP2, not RP2350");
        assertThat(drive.resolve("kiln.uf2")).doesNotExist();
        assertThatThrownBy(() -> flash(drive, "", OptionalLong.empty()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("uf2: {family: NUMBER}");
    }

    @Test
    void aLinkOnTheDriveLeadsNowhere() throws IOException {
        Path drive = drive("RPI-RP2");
        Path other = Files.writeString(folder.resolve("other"), "mine");
        Files.createSymbolicLink(drive.resolve("kiln.uf2"), other);
        FlashFailure failure = flash(drive, "", RP2040).failure().orElseThrow();
        assertThat(failure.kind()).isEqualTo(Kind.WRITE_ERROR);
        assertThat(other).hasContent("mine");
    }

    @Test
    void aFolderWithoutTheFileIsNoDrive() throws IOException {
        Path other = Files.createDirectories(folder.resolve("stick"));
        FlashFailure failure = flash(other, "", RP2040).failure().orElseThrow();
        assertThat(failure.kind()).isEqualTo(Kind.NO_PROBE);
        assertThat(other).isEmptyDirectory();
    }

    @Test
    void drivesAreFoundWhereLinuxMountsThem() throws IOException {
        Path drive = drive("MY BOARD");
        Path mounts = folder.resolve("mounts");
        Files.writeString(
                mounts,
                "proc /proc proc rw 0 0\n/dev/sdb1 " + drive.toString().replace(" ", "\\040")
                        + " vfat rw 0 0\n/dev/sdc1 " + folder + " vfat rw 0 0\nshort\n");
        assertThat(Uf2Drives.find(mounts)).containsExactly(drive);
        assertThat(Uf2Drives.find(folder.resolve("none"))).isEmpty();
    }
}
