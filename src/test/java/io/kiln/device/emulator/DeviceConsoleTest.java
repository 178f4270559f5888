// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.ResourceTree;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole.End;
import io.kiln.device.protocol.Ends;
import io.kiln.firmware.TestFirmware;
import io.kiln.process.RunningProcess;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The console of devices whose UARTs are unknown: the image plays its own debug probe. */
class DeviceConsoleTest {
    @TempDir
    private Path folder;

    @Test
    void aProbeFindsTheRingsInMemoryAndNobodyWaitsForOne() throws IOException {
        TestPrograms.need("qemu-system-arm");
        Path mine = Files.createDirectories(folder.resolve("src/main/boards/probed"));
        Files.writeString(mine.resolve("board.yaml"), """
                schema: 1
                id: probed
                extends: mps2-an386
                sources: [startup.c, fault.c, exit.c, console.c, timer.c, ring.c]
                """);
        Files.writeString(
                mine.resolve("ring.c"),
                "#define kiln_console_init ring_init_all\n#define kiln_console_get ring_get\n#define kiln_console_put ring_put\n"
                        + ResourceTree.read("toolchains/boards")
                                .get("device/console.c")
                                .text());
        Path main = folder.resolve("src/main/c/main.c");
        Files.createDirectories(main.getParent());
        Files.writeString(main, """
            #include <stdint.h>
            #include <string.h>
            #include "kiln_console.h"
            struct ring { const char* name; uint8_t* buffer; uint32_t bytes; volatile uint32_t write, read; uint32_t mode; };
            extern struct { char id[16]; int32_t up_rings, down_rings; struct ring up, down; } kiln_rtt;
            void ring_init_all(void);
            int ring_get(void);
            void ring_put(uint8_t byte);
            int main(void) {
              static const char id[10] = {'S', 'E', 'G', 'G', 'E', 'R', ' ', 'R', 'T', 'T'};
              ring_init_all();
              if (memcmp(kiln_rtt.id, id, sizeof id) != 0 || kiln_rtt.id[10] != 0) return 1;
              if (kiln_rtt.up_rings != 1 || kiln_rtt.down_rings != 1 || kiln_rtt.up.mode != 0) return 2;
              for (uint32_t i = 0; i < 3000; ++i) ring_put((uint8_t)i);
              if (kiln_rtt.up.write != kiln_rtt.up.bytes - 1u || kiln_rtt.up.buffer[1000] != (uint8_t)1000) return 3;
              kiln_rtt.up.read = 1000;
              ring_put(77);
              if (kiln_rtt.up.write != 0 || kiln_rtt.up.buffer[kiln_rtt.up.bytes - 1u] != 77) return 4;
              kiln_rtt.down.buffer[0] = 200;
              kiln_rtt.down.buffer[1] = 'b';
              kiln_rtt.down.write = 2;
              if (ring_get() != 200 || ring_get() != 'b' || kiln_rtt.down.read != 2) return 5;
              kiln_console_text("rings\\n");
              return 0;
            }
            """);
        Board board = Boards.builtIn().with(folder.resolve("src/main/boards")).find("probed");
        Path elf = TestFirmware.build(
                        TestFirmware.request(board, "clang", Optimize.SIZE, List.of(), folder), folder, Log.QUIET)
                .elf();
        StringBuilder text = new StringBuilder();
        try (RunningProcess process = Emulator.of(board, Duration.ofSeconds(20)).start(elf)) {
            End end = ImageConsole.follow(process.output(), Duration.ofSeconds(20), text::append, said -> false);
            assertThat(end).matches(last -> Ends.code(last) == 0, "the image ends with 0");
        }
        assertThat(text).contains("rings\n");
        // A probe that searches the flash must not take a copy of the name for the rings; main.c has one, the console
        // none.
        assertThat(board.files().get("ring.c").text()).doesNotContain("SEGGER RTT");
        assertThat(new String(Files.readAllBytes(elf), StandardCharsets.ISO_8859_1))
                .contains("TTR REGGES");
    }
}
