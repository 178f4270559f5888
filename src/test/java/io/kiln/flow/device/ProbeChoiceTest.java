// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.device.flash.Probe;
import io.kiln.flow.device.FlashRunners.ProbeChoice;
import io.kiln.toolchain.board.Flashing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ProbeChoiceTest {
    private static final Flashing.OpenOcd STLINK =
            new Flashing.OpenOcd("interface/stlink.cfg", "target/stm32f4x.cfg", Optional.empty(), 0);

    @TempDir
    Path usb;

    private void plug(String place, String serial) throws IOException {
        Path folder = Files.createDirectories(usb.resolve(place));
        Files.writeString(folder.resolve("idVendor"), "0483\n");
        Files.writeString(folder.resolve("idProduct"), "374b\n");
        Files.writeString(folder.resolve("serial"), serial);
    }

    private List<Probe> choose(String asked) {
        return new ProbeChoice(Optional.ofNullable(asked), usb).choose(STLINK);
    }

    @Test
    void theOnlyOneIsTaken() throws IOException {
        assertThat(choose(null)).containsExactly(new Probe.Any());
        plug("1-1", "A1");
        assertThat(choose(null)).containsExactly(new Probe.Serial("A1"));
        assertThat(choose(" ")).containsExactly(new Probe.Serial("A1"));
    }

    @Test
    void betweenTwoNothingIsGuessed() throws IOException {
        plug("1-1", "A1");
        plug("1-2", "");
        assertThatThrownBy(() -> choose(null))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("serial A1")
                .hasMessageContaining("usb:1-2")
                .hasMessageContaining("-Dkiln.probe=<serial>");
        assertThat(choose("all")).containsExactly(new Probe.Serial("A1"), new Probe.Location("1-2"));
        assertThat(choose("A1, tcp:lab:99,A1")).containsExactly(new Probe.Serial("A1"), new Probe.Remote("lab", 99));
    }

    @Test
    void allOfNoneIsAnError() {
        assertThatThrownBy(() -> choose("all")).hasMessageContaining("no debug probe was found");
        assertThatThrownBy(() -> new ProbeChoice(Optional.of("all"), usb.resolve("none")).choose(STLINK))
                .hasMessageContaining("serial numbers separated by commas");
    }
}
