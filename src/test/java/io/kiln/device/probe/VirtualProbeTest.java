// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.device.emulator.Emulator.QemuLine;
import io.kiln.device.probe.VirtualProbe.VirtualChip;
import io.kiln.device.probe.VirtualProbe.VirtualChip.FlashContent;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.board.Emulation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The real OpenOCD and the real QEMU with a chip in software. */
class VirtualProbeTest {
    private static final int SMALL = 4096;

    @TempDir
    private Path folder;

    @BeforeEach
    void openOcdIsThere() {
        TestPrograms.need("openocd");
    }

    @Test
    void aHundredKilobytesAreProgrammedVerifiedReadBackAndBootInQemu() throws IOException {
        TestPrograms.need("qemu-system-arm");
        Bytes image = BootImage.of(98_696, 1);
        Path file = write("fw.bin", image);
        Path dump = folder.resolve("dump.bin");
        VirtualChip chip = VirtualChip.erased();
        try (VirtualProbe probe = VirtualProbe.start(chip, Faults.none())) {
            ProcessResult result = ProbedByOpenOcd.flash(probe, folder, file);
            assertThat(result.errors()).contains("verified 98696 bytes").doesNotContain("Error");
            assertThat(result.exitCode()).isZero();
            assertThat(result.elapsed()).isLessThan(Duration.ofSeconds(10));
            ProcessResult reading = ProbedByOpenOcd.run(
                    probe,
                    folder,
                    Duration.ofSeconds(30),
                    "init",
                    "reset halt",
                    "dump_image " + dump + " 0x08000000 98696",
                    "shutdown");
            assertThat(reading.exitCode()).isZero();
        }
        assertThat(Bytes.wrap(Files.readAllBytes(dump))).isEqualTo(image);
        assertThat(chip.flash().start(image.size())).isEqualTo(image);
        Path content = folder.resolve("flash.bin");
        chip.flash().save(content);
        assertThat(boot(content)).isEqualTo("O\n");
    }

    @Test
    void twoProbesWorkAtTheSameTime() throws IOException {
        Bytes left = BootImage.of(SMALL, 2);
        Bytes right = BootImage.of(SMALL, 3);
        CompletableFuture<FlashContent> other = CompletableFuture.supplyAsync(() -> flashed(write("left.bin", left)));
        assertThat(flashed(write("right.bin", right)).start(SMALL)).isEqualTo(right);
        assertThat(other.join().start(SMALL)).isEqualTo(left);
    }

    private FlashContent flashed(Path file) {
        VirtualChip chip = VirtualChip.erased();
        try (VirtualProbe probe = VirtualProbe.start(chip, Faults.none())) {
            assertThat(ProbedByOpenOcd.flash(probe, folder, file).exitCode()).isZero();
        }
        return chip.flash();
    }

    @Test
    void anUnchangedImageIsFoundWithoutProgramming() throws IOException {
        Bytes image = BootImage.of(SMALL, 4);
        Path file = write("fw.bin", image);
        VirtualChip chip = VirtualChip.erased();
        try (VirtualProbe probe = VirtualProbe.start(chip, Faults.none())) {
            ProbedByOpenOcd.flash(probe, folder, file);
            ProcessResult again = ProbedByOpenOcd.run(
                    probe,
                    folder,
                    Duration.ofSeconds(30),
                    "program " + file + " 0x08000000 preverify verify reset exit");
            assertThat(again.errors()).contains("**Verified OK - No flashing**");
            assertThat(again.exitCode()).isZero();
        }
    }

    @Test
    void powerLostHalfWayLeavesAHalfThatTheNextRunRepairs() throws IOException {
        Bytes image = BootImage.of(40_000, 5);
        Path file = write("fw.bin", image);
        Path content = folder.resolve("flash.bin");
        VirtualChip chip = VirtualChip.storedIn(content);
        try (VirtualProbe probe = VirtualProbe.start(chip, Faults.of(new Fault.PowerLost(20_000)))) {
            ProcessResult result = ProbedByOpenOcd.flash(probe, folder, file);
            assertThat(result.errors()).contains("Error: Invalid ACK (7) in DAP response");
            assertThat(result.succeeded()).isFalse();
        }
        assertThat(FlashContent.load(content)).isEqualTo(chip.flash());
        assertThat(chip.flash().start(20_000)).isEqualTo(Bytes.wrap(Arrays.copyOf(image.toArray(), 20_000)));
        assertThat(chip.flash().bytes().get(20_000)).isEqualTo((byte) 0xff);
        VirtualChip later = VirtualChip.storedIn(content);
        try (VirtualProbe probe = VirtualProbe.start(later, Faults.none())) {
            assertThat(ProbedByOpenOcd.flash(probe, folder, file).exitCode()).isZero();
        }
        assertThat(later.flash().start(image.size())).isEqualTo(image);
    }

    @Test
    void flashProtectionAndEraseCheckWorkThroughOpenOcd() {
        VirtualChip chip = VirtualChip.erased();
        try (VirtualProbe probe = VirtualProbe.start(chip, Faults.of(new Fault.ProtectedSector(0)))) {
            ProcessResult result = ProbedByOpenOcd.run(
                    probe,
                    folder,
                    Duration.ofSeconds(60),
                    "init",
                    "reset init",
                    "flash protect 0 0 0 off",
                    "flash fillw 0x08000000 0x12345678 4",
                    "flash erase_check 0",
                    "flash info 0",
                    "shutdown");
            assertThat(result.errors())
                    .contains("cleared protection")
                    .contains("#  0: 0x00000000 (0x4000 16kB) not protected");
            assertThat(result.exitCode()).isZero();
        }
        assertThat(chip.flash().bytes().buffer().getInt(12)).isEqualTo(0x12345678);
    }

    @Test
    void aChipHasOneProbe() {
        VirtualChip chip = VirtualChip.erased();
        try (VirtualProbe probe = VirtualProbe.start(chip, Faults.none())) {
            assertThat(probe.port()).isPositive();
            assertThatThrownBy(() -> VirtualProbe.start(chip, Faults.none())).isInstanceOf(IllegalStateException.class);
        }
        VirtualProbe.start(chip, Faults.none()).close();
    }

    @Test
    void aFileThatIsNoFlashContentIsRefused() throws IOException {
        Path file = folder.resolve("flash.bin");
        Files.write(file, new byte[100]);
        assertThatThrownBy(() -> VirtualChip.storedIn(file))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the file has 100 bytes")
                .hasMessageContaining("Delete it");
    }

    private Path write(String name, Bytes image) {
        Path file = folder.resolve(name);
        WholeFiles.write(file, image.toArray());
        return file;
    }

    private String boot(Path content) {
        Emulation.Qemu qemu = new Emulation.Qemu("qemu-system-arm", "netduinoplus2", List.of());
        List<String> line =
                QemuLine.of(qemu, content.toString()).semihosting(true).words();
        return ProcessRunner.run(Command.ofLine(line).within(Duration.ofSeconds(20)))
                .output();
    }
}
