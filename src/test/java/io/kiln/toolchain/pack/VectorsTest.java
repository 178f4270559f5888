// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.toolchain.pack.Device.Vectors;
import io.kiln.toolchain.pack.Packs.DeviceBoard;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The names of handlers in the forms in which vendors write them. */
class VectorsTest {
    private static final String GNU = """
            /* The table. */
              .section .isr_vector,"a",%progbits
            g_pfnVectors:
              .word _estack
              .word Reset_Handler
            CORE
              /* External interrupts */
              .word     WWDG_IRQHandler                   /* Window WatchDog */

              .word     0                                 /* Reserved */
              .word     FMPI2C1_EV_IRQHandler
              .size g_pfnVectors, .-g_pfnVectors
              .word     Behind_Handler
            """.replace("CORE\n", "  .word SysTick_Handler\n".repeat(14));

    private static final String ARM = """
            __Vectors       DCD     __initial_sp
                            DCD     Reset_Handler
            CORE
                            ; External interrupts
                            DCD     WWDG_IRQHandler
                            DCD     0
                            DCD     FMPI2C1_EV_IRQHandler ; last
            __Vectors_End
                            DCD     Behind_Handler
            """.replace("CORE\n", "                DCD     SysTick_Handler\n".repeat(14));

    private static final Map<Integer, List<String>> NAMES =
            new TreeMap<>(Map.of(0, List.of("WWDG_IRQHandler"), 2, List.of("FMPI2C1_EV_IRQHandler")));

    @TempDir
    private Path folder;

    @Test
    void tablesOfBothAssemblersAreRead() {
        assertThat(Vectors.ofTable(GNU)).isEqualTo(NAMES);
        assertThat(Vectors.ofTable(ARM)).isEqualTo(NAMES);
        assertThat(Vectors.ofTable("int main(void);\n")).isEmpty();
    }

    @Test
    void enumeratorsOfTheHeaderAreReadWithoutThoseOfTheCore() {
        String header = "SysTick_IRQn = -1, /* a = 7 */ WWDG_IRQn = 0,\n FMPI2C1_EV_IRQn   =   2, Other_IRQn = 1000";
        assertThat(Vectors.ofEnumeration(header)).isEqualTo(NAMES);
    }

    @ParameterizedTest
    @CsvSource({
        "UART0, UART0_IRQHandler",
        "UART0_IRQ, UART0_IRQ_Handler",
        "RTC_IRQHandler, RTC_IRQHandler",
        "RTC alarm, RTC_alarm_IRQHandler",
        "2D_GPU, _2D_GPU_IRQHandler"
    })
    void handlersAreCalledAfterTheInterrupt(String interrupt, String handler) {
        assertThat(Vectors.handler(interrupt)).isEqualTo(handler);
    }

    @Test
    void aHandlerStandsForOneNumber() {
        Vectors vectors = new Vectors(
                new TreeMap<>(Map.of(1, List.of("A_IRQHandler", "B_IRQHandler"), 2, List.of("A_IRQHandler"))), "a.svd");
        assertThat(vectors.lines())
                .containsExactly(
                        "-",
                        "# The next one is also called B_IRQHandler.",
                        "A_IRQHandler",
                        "# The next one is also called A_IRQHandler.",
                        "-");
    }

    /** The description of the peripherals names other interrupts, or none. */
    @Test
    void startUpCodeOfTheDeviceIsPreferred() throws IOException {
        Files.writeString(folder.resolve("a.pdsc"), """
                <package><vendor>V</vendor><name>N</name><devices><family Dfamily="F">
                <processor Dcore="Cortex-M4"/><debug svd="a.svd"/><compile define="CHIP446xx"/>
                <memory name="Flash" access="rx" start="0" size="0x10000" default="1" startup="1"/>
                <memory name="RAM" access="rwx" start="0x20000000" size="0x4000" default="1"/>
                <device Dname="CHIP446RE"/></family></devices></package>
                """);
        Files.writeString(
                folder.resolve("a.svd"),
                "<device><interrupt><name>FMPI2C1</name><value>2</value></interrupt></device>");
        assertThat(interrupts()).contains("a.svd\n-\n-\nFMPI2C1_IRQHandler\n");
        Path code = Files.createDirectories(folder.resolve("Source/gcc")).resolve("startup_chip446xx.s");
        Files.writeString(code, GNU);
        Files.writeString(code.resolveSibling("startup_chip411xx.s"), ARM.replace("WWDG", "OTHER"));
        assertThat(interrupts())
                .contains("Source/gcc/startup_chip446xx.s\nWWDG_IRQHandler\n-\nFMPI2C1_EV_IRQHandler\n");
    }

    private String interrupts() {
        return DeviceBoard.of(
                        Packs.open(folder), new DeviceBoard.Request("CHIP446RE", 0, OptionalLong.empty(), true), "a")
                .files()
                .get("interrupts.txt")
                .text();
    }
}
