// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.device.flash.FlashFailure.Kind;
import io.kiln.device.flash.FlashRunner.FlashImage;
import io.kiln.device.flash.FlashRunner.FlashResult;
import io.kiln.device.flash.OpenOcdRunner.Flasher;
import io.kiln.device.flash.OpenOcdRunner.OpenOcd;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Flashing;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the built-in boards name in OpenOCD, compared with the OpenOCD that is there. */
class BoardScriptsTest {
    @TempDir
    private Path folder;

    @Test
    void everyScriptOfABuiltInBoardIsThere() {
        OpenOcd openOcd = TestOpenOcd.get();
        TreeSet<String> scripts = new TreeSet<>();
        Boards boards = Boards.builtIn();
        for (String id : boards.ids()) {
            boards.find(id)
                    .openOcd()
                    .ifPresent(how -> scripts.addAll(new FlashTarget(how, List.of(), new Probe.Any()).neededScripts()));
        }
        scripts.remove("");
        assertThat(scripts).contains("target/nrf52.cfg", "target/rp2040.cfg", "board/sifive-hifive1-revb.cfg");
        assertThat(openOcd.missing(List.copyOf(scripts), List.of())).isEmpty();
    }

    /** Its script connects by itself: what comes behind it would come too late. */
    @Test
    void theProbeOfTheHifive1IsChosenBeforeItsScriptConnects() throws Exception {
        OpenOcd openOcd = TestOpenOcd.get();
        Flashing.OpenOcd how = Boards.builtIn().find("hifive1-revb").openOcd().orElseThrow();
        FlashTarget target = new FlashTarget(how, List.of(), new Probe.Serial("not a number"));
        List<String> arguments = target.arguments("kiln.tcl");
        String script = "kiln_source board/sifive-hifive1-revb.cfg";
        assertThat(arguments)
                .containsSubsequence(
                        "source kiln.tcl", "adapter serial not\\ a\\ number", "transport select jtag", script);
        assertThat(arguments.indexOf(script)).isEqualTo(arguments.size() - 1);

        Path log = folder.resolve("flash.log");
        FlashImage image = FlashImage.of(List.of(new FlashImage.Segment(0x20010000L, Bytes.wrap(new byte[64]))));
        FlashResult result = new Flasher(openOcd, Duration.ofSeconds(30), true, Optional.of(log))
                .flash(target, image, FlashProgress.QUIET);
        assertThat(result.failure().orElseThrow().kind()).isEqualTo(Kind.NO_PROBE);
        // Only a J-Link driver that was given the serial number says so, and it is asked by the script's own init.
        assertThat(Files.readString(log))
                .contains("Invalid serial number: not a number")
                .doesNotContain("port 3333");
    }
}
