// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.device.flash.FlashFailure.FailureRules;
import io.kiln.device.flash.FlashFailure.Kind;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

final class FailureRulesTest {
    private static FlashFailure of(String... lines) {
        return FailureRules.classify(List.of(lines), true).orElseThrow();
    }

    @Test
    void aWrongTapIsAWrongChipThoughOpenOcdCarriesOn() {
        FlashFailure failure = of(
                "Warn : JTAG tap: stm32f4x.cpu UNEXPECTED: 0x3ba00477 (mfg: 0x23b, part: 0xba00, ver: 0x3)",
                "Error: JTAG tap: stm32f4x.cpu  expected 1 of 1: 0x4ba00477",
                "Error: Trying to use configured scan chain anyway...");
        assertThat(failure.kind()).isEqualTo(Kind.WRONG_CHIP);
        assertThat(failure.text()).contains("0x3ba00477");
    }

    @Test
    void anUnknownFamilyIsAWrongChip() {
        assertThat(of("Warn : Cannot identify target as a STM32 family.", "Error: auto_probe failed")
                        .kind())
                .isEqualTo(Kind.WRONG_CHIP);
    }

    @Test
    void aWriteErrorHasItsAddress() {
        FlashFailure failure = of(
                "Error: flash write algorithm aborted by target",
                "Error: error executing stm32x flash write algorithm",
                "Error: flash write failed = 0x00000080",
                "Error: error writing to flash at address 0x08000000 at offset 0x0000c000");
        assertThat(failure.kind()).isEqualTo(Kind.WRITE_ERROR);
        assertThat(failure.address()).isEqualTo(OptionalLong.of(0x0800c000));
        assertThat(failure.text()).contains("at 0x0800c000").contains("not bootable");
    }

    @Test
    void aMismatchHasItsFirstAddress() {
        FlashFailure failure = of(
                "Error: checksum mismatch - attempting binary compare",
                "diff 0 address 0x08000105. Was 0x4a instead of 0x4b",
                "diff 1 address 0x08000200. Was 0x00 instead of 0x01");
        assertThat(failure.kind()).isEqualTo(Kind.VERIFY_MISMATCH);
        assertThat(failure.address()).isEqualTo(OptionalLong.of(0x08000105));
    }

    @Test
    void protectionIsTheCauseAndTheFailedEraseItsConsequence() {
        assertThat(of("Error: stm32x device protected", "Error: failed erasing sectors 0 to 0")
                        .kind())
                .isEqualTo(Kind.LOCKED);
        assertThat(of("Warn : Device Security Bit Set", "Error: failed erasing sectors 0 to 0")
                        .kind())
                .isEqualTo(Kind.LOCKED);
    }

    @Test
    void aLostProbeIsTheCauseOfAllElse() {
        assertThat(of(
                                "Error: Error on socket 'remote_bitbang_putc': errno==32, message: Broken pipe.",
                                "Error: error writing to flash at address 0x08000000 at offset 0x00000000")
                        .kind())
                .isEqualTo(Kind.PROBE_LOST);
        assertThat(of("openocd: src/jtag/drivers/remote_bitbang.c:196: remote_bitbang_read_sample: Assertion"
                                + " `!remote_bitbang_recv_buf_empty()' failed.")
                        .kind())
                .isEqualTo(Kind.PROBE_LOST);
    }

    @Test
    void anImageOutsideFlashHasItsAddress() {
        FlashFailure failure = of("Warn : no flash bank found for address 0x00200000");
        assertThat(failure.kind()).isEqualTo(Kind.OUTSIDE_FLASH);
        assertThat(failure.address()).isEqualTo(OptionalLong.of(0x00200000));
    }

    @Test
    void eachKindOfProbeThatIsNotThere() {
        for (String line : List.of(
                "Error: unable to find a matching CMSIS-DAP device",
                "Error: open failed",
                "Error: Invalid serial number: ABC123.",
                "Error: No J-Link device found",
                "Error: unable to open ftdi device with vid 0403, pid cff8, description 'x', serial 'y' at bus location '*'",
                "Error: Error on socket 'Failed to connect': errno==9")) {
            assertThat(of(line).kind()).as(line).isEqualTo(Kind.NO_PROBE);
        }
    }

    @Test
    void whatIsNotKnownIsNotGuessed() {
        assertThat(FailureRules.classify(List.of("Error: the moon is full"), false))
                .isEmpty();
        assertThat(FailureRules.classify(
                        List.of("Error: Translation from khz to adapter speed not implemented"), false))
                .isEmpty();
    }

    @Test
    void everyKindHasItsRemedy() {
        for (Kind kind : Kind.values()) {
            assertThat(kind.meaning()).isNotBlank().doesNotEndWith(".");
            assertThat(kind.remedy()).isNotBlank().doesNotEndWith(".");
        }
    }
}
