// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.ResourceTree;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.pack.Packs.DeviceBoard;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What Kiln knows of families of devices beside their packs. */
class DeviceFamiliesTest {
    private static final Path SCRIPTS = Path.of("/usr/share/openocd/scripts/target");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "STM32F103RBTx, STMicroelectronics:13, stm32f1x.cfg, stlink.cfg",
        "STM32F103ZFTx, STMicroelectronics:13, stm32xl.cfg, stlink.cfg",
        "STM32F411CEUx, STMicroelectronics:13, stm32f4x.cfg, stlink.cfg",
        "STM32H743ZITx, STMicroelectronics:13, stm32h7x_dual_bank.cfg, stlink.cfg",
        "STM32H750VBTx, STMicroelectronics:13, stm32h7x.cfg, stlink.cfg",
        "STM32H7S3L8Hx, STMicroelectronics:13, '', ''",
        "STM32H563ZITx, STMicroelectronics:13, '', ''",
        "STM32L072CZTx, STMicroelectronics:13, stm32l0_dual_bank.cfg, stlink.cfg",
        "STM32L053R8Tx, STMicroelectronics:13, stm32l0.cfg, stlink.cfg",
        "STM32L152RETx, STMicroelectronics:13, stm32l1x_dual_bank.cfg, stlink.cfg",
        "STM32L476RGTx, STMicroelectronics:13, stm32l4x.cfg, stlink.cfg",
        "STM32U585AIIx, STMicroelectronics:13, stm32u5x.cfg, stlink-dap.cfg",
        "STM32WB55RGVx, STMicroelectronics:13, stm32wbx.cfg, stlink.cfg",
        "STM32WBA52CGUx, STMicroelectronics:13, '', ''",
        "STM32WLE5JCIx, STMicroelectronics:13, stm32wlx.cfg, stlink.cfg",
        "nRF52840_xxAA, Nordic Semiconductor:54, nrf52.cfg, jlink.cfg",
        "nRF5340_xxAA_APPLICATION, Nordic Semiconductor:54, '', ''",
        "RP2040, RPi:170, rp2040.cfg, cmsis-dap.cfg",
        "RP2350, RPi:170, '', ''",
        "LPC1768, NXP:11, lpc17xx.cfg, cmsis-dap.cfg",
        "LPC55S69JBD100, NXP:11, '', ''",
        "MK64FN1M0VLL12, NXP:11, kx.cfg, cmsis-dap.cfg",
        "MKL25Z128VLK4, NXP:11, klx.cfg, cmsis-dap.cfg",
        "MKE18F512VLH16, NXP:11, ke1xf.cfg, cmsis-dap.cfg",
        "MIMXRT1062DVL6A, NXP:11, '', ''",
        "ATSAMD21G18A, Microchip:3, at91samdXX.cfg, cmsis-dap.cfg",
        "ATSAME54P20A, Microchip:3, atsame5x.cfg, cmsis-dap.cfg",
        "ATSAME70Q21, Microchip:3, atsamv.cfg, cmsis-dap.cfg",
        "EFR32MG12P432F1024GM48, Silicon Labs:21, efm32.cfg, jlink.cfg",
        "EFR32MG24B310F1536IM48, Silicon Labs:21, '', ''",
        "XMC4700-F144x2048, Infineon:7, xmc4xxx.cfg, cmsis-dap.cfg",
        "TM4C123GH6PM, Texas Instruments:16, stellaris.cfg, cmsis-dap.cfg",
        "GD32F303VC, GigaDevice:123, '', ''",
        "GD32E230C8, GigaDevice:123, gd32e23x.cfg, cmsis-dap.cfg",
        "R7FA4M1AB, Renesas:117, '', ''"
    })
    void openOcdIsToldTheFamilyAndTheProbeOfTheVendorsKits(String name, String vendor, String script, String probe)
            throws IOException {
        String profile = board(name, vendor).files().get("board.yaml").text();
        if (name.equals("RP2350")) {
            assertThat(profile).contains("extends: rp2350\n").doesNotContain("openocd:", "OpenOCD 0.12 has no script");
        } else if (script.isEmpty()) {
            assertThat(profile).doesNotContain("openocd:").contains("OpenOCD 0.12 has no script for this family");
        } else {
            assertThat(profile).contains("{interface: interface/" + probe + ", target: target/" + script + ",");
        }
    }

    @Test
    void whatCanLockAChipIsAskedFirst() throws IOException {
        assertThat(board("MK64FN1M0VLL12", "NXP:11").questions().get(0)).contains("0x400", "LOCK");
        assertThat(board("RP2040", "RPi:170").questions().get(0)).contains("second stage");
        assertThat(board("STM32F411CEUx", "STMicroelectronics:13").questions().get(0))
                .startsWith("Clock: ");
    }

    @Test
    void openOcdHasEveryScript() {
        TestPrograms.need("openocd");
        List<String> scripts = ResourceTree.read("pack")
                .get("openocd.txt")
                .text()
                .lines()
                .filter(line -> !line.startsWith("#") && !line.endsWith(" -"))
                .map(line -> line.substring(line.indexOf(' ') + 1))
                .toList();
        assertThat(scripts)
                .hasSizeGreaterThan(70)
                .allSatisfy(script -> assertThat(SCRIPTS.resolve(script)).isRegularFile());
    }

    private DeviceBoard board(String name, String vendor) throws IOException {
        Path pack = Files.writeString(
                folder.resolve("a.pdsc"), """
                    <package><vendor>V</vendor><name>N</name><devices><family Dfamily="F" Dvendor="VENDOR"><device Dname="NAME">
                    <processor Dcore="Cortex-M4"/>
                    <memory name="Flash" access="rx" start="0" size="0x10000" default="1" startup="1"/>
                    <memory name="RAM" access="rwx" start="0x20000000" size="0x4000" default="1"/>
                    </device></family></devices></package>
                    """.replace("VENDOR", vendor).replace("NAME", name));
        return DeviceBoard.of(Packs.open(pack), new DeviceBoard.Request(name, 0, OptionalLong.empty(), true), "a");
    }
}
