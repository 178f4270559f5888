// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.device.flash.FlashRunner.FlashImage;
import io.kiln.device.flash.FlashRunner.FlashImage.Segment;
import io.kiln.device.flash.Probe.UsbDevice;
import io.kiln.flow.device.FlashRunners.Probes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ProbesTest {
    @TempDir
    Path sysfs;

    private void device(String place, String vendor, String product, String serial, String name) throws IOException {
        Path folder = Files.createDirectories(sysfs.resolve(place));
        Files.writeString(folder.resolve("idVendor"), vendor + "\n");
        Files.writeString(folder.resolve("idProduct"), product + "\n");
        Files.writeString(folder.resolve("product"), name + "\n");
        if (!serial.isEmpty()) {
            Files.writeString(folder.resolve("serial"), serial + "\n");
        }
    }

    @Test
    void probesAreToldFromOtherDevices() throws IOException {
        device("1-1", "046d", "c077", "", "Mouse");
        device("1-2.4", "0483", "374b", "0669FF", "STM32 STLink");
        device("1-3", "0483", "5740", "COM", "Virtual COM Port");
        device("1-4", "2e8a", "000c", "E66", "Debugprobe on Pico");
        Files.createDirectories(sysfs.resolve("1-4/1-4:1.0"));
        Files.writeString(sysfs.resolve("1-4/1-4:1.0/interface"), "CMSIS-DAP v2 Interface\n");
        Files.createDirectories(sysfs.resolve("1-4:1.0"));
        device("1-5", "1366", "1015", "", "J-Link");
        List<UsbDevice> devices = UsbDevice.list(sysfs).orElseThrow();
        assertThat(devices).hasSize(5);
        assertThat(Probes.of("interface/stlink.cfg", devices).orElseThrow())
                .extracting(Probes::probe)
                .containsExactly(new Probe.Serial("0669FF"));
        assertThat(Probes.of("interface/cmsis-dap.cfg", devices).orElseThrow())
                .extracting(Probes::probe)
                .containsExactly(new Probe.Serial("E66"));
        assertThat(Probes.of("interface/jlink.cfg", devices).orElseThrow())
                .extracting(Probes::probe)
                .containsExactly(new Probe.Location("1-5"));
        assertThat(Probes.of("interface/ftdi/own.cfg", devices)).isEmpty();
        assertThat(UsbDevice.list(sysfs.resolve("none"))).isEmpty();
    }

    @Test
    void probesAreNamedBySerialPlaceOrAddress() {
        assertThat(Probe.parse("0669FF")).isEqualTo(new Probe.Serial("0669FF"));
        assertThat(Probe.parse("usb:1-2.4")).isEqualTo(new Probe.Location("1-2.4"));
        assertThat(Probe.parse("tcp:localhost:9824")).isEqualTo(new Probe.Remote("localhost", 9824));
        for (String wrong : List.of("", " ", "usb:", "usb:x", "tcp:host", "tcp:host:99999", "tcp:a b:1", "a\nb")) {
            assertThatThrownBy(() -> Probe.parse(wrong)).as(wrong).isInstanceOf(KilnException.class);
        }
    }

    @Test
    void blocksThatLieCloseBecomeOneSegment() {
        FlashImage image = FlashImage.of(List.of(
                new Segment(0x2000, Bytes.wrap(new byte[] {5})),
                new Segment(0x100, Bytes.wrap(new byte[] {1, 2})),
                new Segment(0x104, Bytes.wrap(new byte[] {3})),
                new Segment(0x90, Bytes.wrap(new byte[0]))));
        assertThat(image.segments()).extracting(Segment::address).containsExactly(0x100L, 0x2000L);
        assertThat(image.segments().get(0).content().toArray()).containsExactly(1, 2, 0xff, 0xff, 3);
        assertThat(image.size()).isEqualTo(6);
    }
}
