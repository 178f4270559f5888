// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.WholeFiles;
import io.kiln.device.probe.VirtualProbe.VirtualChip;
import io.kiln.device.probe.VirtualProbe.VirtualChip.FlashContent;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.TestPrograms;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the real OpenOCD says to each fault: the texts and exit codes that flashing is judged by. */
class ProbeFaultTest {
    private static final int SIGABRT = 128 + 6;
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @TempDir
    private Path folder;

    private Path image;

    @BeforeEach
    void writeImage() {
        TestPrograms.need("openocd");
        image = folder.resolve("fw.bin");
        WholeFiles.write(image, BootImage.of(8192, 6).toArray());
    }

    @Test
    void aWrongTapIdIsOnlyWarnedOf() {
        ProcessResult result = flash(new Fault.WrongTapId(0x3ba00477));
        assertThat(result.errors()).contains("UNEXPECTED: 0x3ba00477").contains("expected 1 of 1: 0x4ba00477");
        assertThat(result.exitCode()).isZero();
    }

    @Test
    void anUnknownChipIdStopsAtOnce() {
        ProcessResult result = flash(new Fault.WrongChipId(0x10006999));
        assertThat(result.errors()).contains("Cannot identify target as a STM32 family");
        assertThat(result.exitCode()).isEqualTo(1);
    }

    @Test
    void theIdOfARelatedChipIsTakenForIt() {
        ProcessResult result = flash(new Fault.WrongChipId(0x10016421));
        assertThat(result.errors()).contains("device id = 0x10016421");
        assertThat(result.exitCode()).isZero();
    }

    @Test
    void aWriteErrorIsReportedWithItsAddress() {
        ProcessResult result = flash(new Fault.WriteError(0x08000100));
        assertThat(result.errors())
                .contains("flash write algorithm aborted by target")
                .contains("flash write failed = 0x00000080")
                .contains("error writing to flash at address 0x08000000 at offset 0x00000000");
        assertThat(result.exitCode()).isEqualTo(1);
    }

    @Test
    void aProtectedSectorIsNotErased() {
        ProcessResult result = flash(new Fault.ProtectedSector(0));
        assertThat(result.errors()).contains("stm32x device protected").contains("failed erasing sectors 0 to 0");
        assertThat(result.exitCode()).isEqualTo(1);
    }

    @Test
    void aLockedChipSaysSo() {
        ProcessResult result = flash(new Fault.ReadProtected());
        assertThat(result.errors()).contains("stm32x device protected");
        assertThat(result.exitCode()).isEqualTo(1);
        try (VirtualProbe probe = VirtualProbe.start(VirtualChip.erased(), Faults.of(new Fault.ReadProtected()))) {
            ProcessResult info =
                    ProbedByOpenOcd.run(probe, folder, LIMIT, "init", "reset init", "flash info 0", "shutdown");
            assertThat(info.errors()).contains("Device Security Bit Set");
        }
    }

    @Test
    void unlockingErasesAll() {
        VirtualChip chip = VirtualChip.of(new FlashContent(Bytes.wrap(new byte[FlashContent.SIZE])));
        try (VirtualProbe probe = VirtualProbe.start(chip, Faults.of(new Fault.ReadProtected()))) {
            ProcessResult result =
                    ProbedByOpenOcd.run(probe, folder, LIMIT, "init", "reset init", "stm32f2x unlock 0", "shutdown");
            assertThat(result.errors()).contains("stm32f2x unlocked.");
        }
        assertThat(chip.flash()).isEqualTo(FlashContent.erased());
    }

    @Test
    void aFlippedBitIsFoundWithItsAddress() {
        ProcessResult result = flash(new Fault.FlippedBit(0x08000105, 0));
        assertThat(result.errors())
                .contains("checksum mismatch - attempting binary compare")
                .contains("diff 0 address 0x08000105. Was 0x");
        assertThat(result.exitCode()).isEqualTo(1);
    }

    @Test
    void aDroppedConnectionEndsOpenOcdOneWayOrTheOther() {
        ProcessResult result = flash(new Fault.ConnectionDropped(2000));
        assertThat(result.exitCode()).isIn(1, SIGABRT);
        assertThat(result.errors()).containsAnyOf("remote_bitbang_putc", "remote_bitbang_read_sample");
    }

    @Test
    void silenceIsEndedByTheTimeLimitOnly() {
        try (VirtualProbe probe = VirtualProbe.start(VirtualChip.erased(), Faults.of(new Fault.Silence(0)))) {
            ProcessResult result = ProbedByOpenOcd.run(probe, folder, Duration.ofSeconds(2), "init", "shutdown");
            assertThat(result.timedOut()).isTrue();
        }
    }

    @Test
    void aSlowProbeIsOnlySlow() {
        VirtualChip chip = VirtualChip.erased();
        try (VirtualProbe probe = VirtualProbe.start(chip, Faults.of(new Fault.SlowProbe(Duration.ofMillis(1))))) {
            assertThat(ProbedByOpenOcd.flash(probe, folder, image).exitCode()).isZero();
        }
    }

    @Test
    void aKilledClientLeavesTheProbeToTheNext() {
        Faults slow = Faults.of(new Fault.SlowProbe(Duration.ofMillis(1)));
        try (VirtualProbe probe = VirtualProbe.start(VirtualChip.erased(), slow)) {
            String write = "flash write_image erase " + image + " 0x08000000";
            ProcessResult killed =
                    ProbedByOpenOcd.run(probe, folder, Duration.ofMillis(900), "init", "reset init", write);
            assertThat(killed.timedOut()).isTrue();
            assertThat(ProbedByOpenOcd.flash(probe, folder, image).exitCode()).isZero();
        }
    }

    private ProcessResult flash(Fault fault) {
        try (VirtualProbe probe = VirtualProbe.start(VirtualChip.erased(), Faults.of(fault))) {
            return ProbedByOpenOcd.flash(probe, folder, image);
        }
    }
}
