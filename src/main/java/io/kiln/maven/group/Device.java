// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import io.kiln.flow.spec.DeviceSpec.ConsoleSpec;
import io.kiln.flow.spec.DeviceSpec.FlashSpec;
import java.time.Duration;
import java.util.Optional;

/** How a board is flashed and listened to: {@code <flash>} and {@code <monitor>}. */
public final class Device {
    private static final Element SKIP = Element.of(
                    "skip", "false", "Skips kiln:flash; verification on the board then uses the image that is on it.")
            .alone("skipFlash");
    private static final Element RUNNER = Element.of(
                    "runner",
                    "What flashes: openocd, uf2, dfu-util, stm32flash, st-flash, pyocd, probe-rs, jlink, stm32cubeprogrammer, nrfutil, esptool,"
                            + " picotool, or command, the one in board.yaml; with its path as RUNNER=PATH. If not set, the board's.")
            .alone("runner");
    private static final Element TIMEOUT = Element.of(
                    "timeout", "180", "Seconds after which flashing a device is aborted.")
            .alone("timeout");
    private static final Element PREVERIFY = Element.of(
                    "preverify", "true", "Whether a device that already holds the image is skipped.")
            .alone("preverify");
    private static final Element ONLY = Element.of(
                    "only",
                    "",
                    "parameters writes only the flash sectors of the parameters of graphs, on a board that has some for them; the rest of the"
                            + " device stays as it is. models writes only the models of IMAGE.update, into the slot whose models do not run;"
                            + " devices that the update does not suit are left as they are. If not set, the whole image is written.")
            .alone("only");
    private static final Element LOG = Element.of(
                    "log", "A file that gets a line of JSON for each device flashed; several projects may share it.")
            .alone("log");
    private static final Element ALLOW_RPC = Element.of(
                    "allowRpc",
                    "false",
                    "Whether deploy may flash an image with an RPC server (kiln.application=rpc), which is for the bench only.")
            .alone("allowRpc");
    private static final Element PORT = Element.of(
                    "port",
                    "The board's serial port, such as /dev/ttyACM0 or COM3, or tcp:PORT, a port of this computer. If not set, the port with the"
                            + " board's USB ids.")
            .alone("port");
    private static final Element SERIAL = Element.of(
                    "serial",
                    "Serial number of the USB device that provides the port, if several boards are connected.")
            .alone("serial");
    private static final Element BAUD = Element.of(
                    "baud", "Bits per second of the serial port. If not set, the board's.")
            .alone("baud");

    /** {@code <flash>}: how a board is flashed. */
    public static final ParameterGroup FLASH =
            new ParameterGroup("flash", SKIP, RUNNER, TIMEOUT, PREVERIFY, ONLY, LOG, ALLOW_RPC);

    /** {@code <monitor>}: the serial console of a board. */
    public static final ParameterGroup MONITOR = new ParameterGroup("monitor", PORT, SERIAL, BAUD);

    private Device() {}

    /** Whether nothing is flashed. */
    public static boolean isFlashSkipped(GroupValues flash) {
        return flash.flag(SKIP);
    }

    /**
     * How boards are flashed.
     *
     * @param probes which; empty for the only one connected
     * @param openOcd name or path of OpenOCD
     * @param coordinates {@code group:artifact:version} of the project
     * @param faults to inject into virtual boards; empty for none
     * @param bar whether progress is a terminal bar
     */
    public static FlashSpec flash(
            GroupValues flash,
            Optional<String> probes,
            String openOcd,
            Optional<String> coordinates,
            Optional<String> faults,
            boolean bar) {
        return new FlashSpec(
                probes,
                new FlashSpec.Tool(openOcd, Duration.ofSeconds(Math.max(1, flash.small(TIMEOUT))), flash.find(RUNNER)),
                FlashSpec.Content.of(flash.flag(PREVERIFY), flash.text(ONLY).strip()),
                new FlashSpec.Journal(flash.file(LOG), coordinates),
                faults,
                flash.flag(ALLOW_RPC),
                bar);
    }

    /** The serial console of a board. */
    public static ConsoleSpec console(GroupValues monitor) {
        return new ConsoleSpec(monitor.find(PORT), monitor.find(SERIAL), monitor.smallIfSet(BAUD));
    }
}
