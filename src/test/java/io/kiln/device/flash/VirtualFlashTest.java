// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.device.flash.FlashFailure.Kind;
import io.kiln.device.flash.FlashRunner.FlashImage;
import io.kiln.device.flash.FlashRunner.FlashImage.Segment;
import io.kiln.device.flash.FlashRunner.FlashResult;
import io.kiln.device.flash.OpenOcdRunner.Flasher;
import io.kiln.device.flash.OpenOcdRunner.OpenOcd;
import io.kiln.device.probe.Fault;
import io.kiln.device.probe.Faults;
import io.kiln.device.probe.VirtualProbe;
import io.kiln.device.probe.VirtualProbe.VirtualChip;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.board.Flashing;
import io.kiln.toolchain.board.Flashing.ChipId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Flashing through the real OpenOCD to a virtual STM32F405, as it should go and in every way that it can fail. */
final class VirtualFlashTest {
    private static final long BASE = 0x08000000;
    private static final byte[] CONTENT = new byte[40_001];
    private static final FlashImage IMAGE;

    static {
        new Random(3).nextBytes(CONTENT);
        IMAGE = FlashImage.of(List.of(new Segment(BASE, Bytes.wrap(CONTENT))));
    }

    private static final ChipId STM32F405 = new ChipId(0xe0042000L, 0xfff, 0x413);

    private Optional<ChipId> chipId = Optional.of(STM32F405);
    private final VirtualChip chip = VirtualChip.erased();
    private final List<Long> written = new ArrayList<>();

    @TempDir
    Path folder;

    private OpenOcd openOcd;

    @BeforeEach
    void openOcdIsThere() {
        openOcd = TestOpenOcd.get();
    }

    private FlashResult flash(VirtualProbe probe, FlashImage image, Duration limit) {
        FlashTarget target = new FlashTarget(
                new Flashing.OpenOcd("interface/stlink.cfg", "target/stm32f4x.cfg", Optional.of("hla_swd"), 0, chipId),
                List.of(),
                new Probe.Remote("127.0.0.1", probe.port()));
        FlashProgress progress = new FlashProgress() {
            @Override
            public void erasing() {
                written.add(0L);
            }

            @Override
            public void written(long bytes) {
                written.add(bytes);
            }

            @Override
            public void verifying() {}
        };
        return new Flasher(openOcd, limit, true, Optional.of(folder.resolve("flash.log")))
                .flash(target, image, progress);
    }

    private FlashResult flash(Fault... faults) {
        try (VirtualProbe probe = VirtualProbe.start(chip, Faults.of(faults))) {
            return flash(probe, IMAGE, Duration.ofSeconds(60));
        }
    }

    private FlashFailure failure(Fault... faults) {
        FlashResult result = flash(faults);
        assertThat(result.verdict()).isEqualTo("failed");
        return result.failure().orElseThrow();
    }

    private byte[] held() {
        return Arrays.copyOf(chip.flash().bytes().toArray(), CONTENT.length);
    }

    @Test
    void theDeviceHoldsTheImageByteForByteAndASecondTimeNothingIsWritten() {
        FlashResult first = flash();
        assertThat(first.failure()).isEmpty();
        assertThat(first.verdict()).isEqualTo("flashed");
        assertThat(first.elapsed()).isLessThan(Duration.ofSeconds(10));
        assertThat(held()).isEqualTo(CONTENT);
        assertThat(written).startsWith(0L, 16384L).endsWith((long) CONTENT.length);
        written.clear();
        FlashResult second = flash();
        assertThat(second.failure()).isEmpty();
        assertThat(second.verdict()).isEqualTo("unchanged");
        assertThat(written).isEmpty();
    }

    @Test
    void aWrongTapIsFoundBeforeAnythingIsErased() {
        FlashFailure failure = failure(new Fault.WrongTapId(0x3ba00477));
        assertThat(failure.kind()).as(failure.text()).isEqualTo(Kind.WRONG_CHIP);
        assertThat(failure.begun()).isFalse();
        assertThat(failure.text()).contains("0x3ba00477");
    }

    @Test
    void aChipThatOpenOcdDoesNotKnow() {
        chipId = Optional.empty();
        FlashFailure failure = failure(new Fault.WrongChipId(0x12345678));
        assertThat(failure.kind()).as(failure.text()).isEqualTo(Kind.WRONG_CHIP);
        assertThat(failure.begun()).isFalse();
    }

    @Test
    void aRelativeThatOpenOcdTakesForTheChip() {
        int stm32f446 = 0x10006421;
        FlashFailure failure = failure(new Fault.WrongChipId(stm32f446));
        assertThat(failure.kind()).as(failure.text()).isEqualTo(Kind.WRONG_CHIP);
        assertThat(failure.text()).contains("0xe0042000 reads 0x10006421", "0x00000fff", "must be 0x00000413");
        assertThat(failure.begun()).isFalse();
        chipId = Optional.empty();
        assertThat(flash(new Fault.WrongChipId(stm32f446)).failure()).isEmpty();
    }

    @Test
    void aWriteErrorNamesItsPiece() {
        FlashFailure failure = failure(new Fault.WriteError((int) BASE + 0x9000));
        assertThat(failure.kind()).as(failure.text()).isEqualTo(Kind.WRITE_ERROR);
        assertThat(failure.address().orElseThrow()).isBetween(BASE + 0x8000, BASE + 0x9000);
        assertThat(failure.text()).contains("not bootable");
    }

    @Test
    void protection() {
        FlashFailure failure = failure(new Fault.ProtectedSector(1));
        assertThat(failure.kind()).as(failure.text()).isEqualTo(Kind.LOCKED);
        assertThat(failure.text()).contains("the block at 0x08004000 is protected against writing");
        assertThat(failure.begun()).isFalse();
        assertThat(flash(new Fault.ProtectedSector(11)).failure()).isEmpty();
    }

    @Test
    void readProtection() {
        FlashFailure failure = failure(new Fault.ReadProtected());
        assertThat(failure.kind()).as(failure.text()).isEqualTo(Kind.LOCKED);
        assertThat(failure.text()).contains("it is protected against reading");
        assertThat(failure.begun()).isFalse();
    }

    @Test
    void aFlippedBitHasItsAddress() {
        FlashFailure failure = failure(new Fault.FlippedBit((int) BASE + 0x4321, 3));
        assertThat(failure.kind()).as(failure.text()).isEqualTo(Kind.VERIFY_MISMATCH);
        assertThat(failure.address()).hasValue(BASE + 0x4321);
    }

    @Test
    void aBrokenConnectionHalfWayIsRepairedByTheNextFlash() {
        FlashFailure failure = failure(new Fault.ConnectionDropped(20_000));
        assertThat(failure.kind()).as(failure.text()).isEqualTo(Kind.PROBE_LOST);
        assertThat(failure.text()).contains("not bootable");
        assertThat(held()).isNotEqualTo(CONTENT);
        assertThat(flash().verdict()).isEqualTo("flashed");
        assertThat(held()).isEqualTo(CONTENT);
    }

    @Test
    void powerLostHalfWayIsRepairedByTheNextFlash() {
        FlashFailure failure = failure(new Fault.PowerLost(20_000));
        assertThat(failure.begun()).isTrue();
        assertThat(failure.text()).contains("not bootable");
        assertThat(flash().verdict()).isEqualTo("flashed");
        assertThat(held()).isEqualTo(CONTENT);
    }

    @Test
    void silenceHalfWayIsKilledAtTheTimeLimit() {
        try (VirtualProbe probe = VirtualProbe.start(chip, Faults.of(new Fault.Silence(10_000)))) {
            FlashFailure failure =
                    flash(probe, IMAGE, Duration.ofSeconds(8)).failure().orElseThrow();
            assertThat(failure.kind()).isEqualTo(Kind.TIME_OUT);
            assertThat(failure.begun()).isTrue();
        }
        assertThat(TestPrograms.left()).isEmpty();
    }

    @Test
    void anImageOutsideFlash() {
        FlashImage outside = FlashImage.of(List.of(new Segment(BASE + (1 << 20) - 100, Bytes.wrap(new byte[200]))));
        try (VirtualProbe probe = VirtualProbe.start(chip, Faults.none())) {
            FlashFailure failure =
                    flash(probe, outside, Duration.ofSeconds(30)).failure().orElseThrow();
            assertThat(failure.kind()).as(failure.text()).isEqualTo(Kind.OUTSIDE_FLASH);
            assertThat(failure.begun()).isFalse();
        }
    }

    @Test
    void severalSegments() {
        FlashImage two = FlashImage.of(List.of(
                new Segment(BASE, Bytes.wrap(Arrays.copyOf(CONTENT, 1000))),
                new Segment(BASE + 0x20000, Bytes.wrap(Arrays.copyOfRange(CONTENT, 5000, 5999)))));
        try (VirtualProbe probe = VirtualProbe.start(chip, Faults.none())) {
            assertThat(flash(probe, two, Duration.ofSeconds(30)).failure()).isEmpty();
        }
        byte[] flash = chip.flash().bytes().toArray();
        assertThat(Arrays.copyOf(flash, 1000)).isEqualTo(Arrays.copyOf(CONTENT, 1000));
        assertThat(Arrays.copyOfRange(flash, 0x20000, 0x20000 + 999))
                .isEqualTo(Arrays.copyOfRange(CONTENT, 5000, 5999));
    }

    @Test
    void twoAtOnce() {
        VirtualChip other = VirtualChip.erased();
        try (VirtualProbe first = VirtualProbe.start(chip, Faults.none());
                VirtualProbe second = VirtualProbe.start(other, Faults.none())) {
            CompletableFuture<FlashResult> left =
                    CompletableFuture.supplyAsync(() -> flash(first, IMAGE, Duration.ofSeconds(60)));
            CompletableFuture<FlashResult> right =
                    CompletableFuture.supplyAsync(() -> flash(second, IMAGE, Duration.ofSeconds(60)));
            assertThat(left.join().failure()).isEmpty();
            assertThat(right.join().failure()).isEmpty();
        }
        assertThat(other.flash()).isEqualTo(chip.flash());
    }
}
