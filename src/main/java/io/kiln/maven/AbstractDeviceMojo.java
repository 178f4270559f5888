// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.spec.FlashSpec;
import io.kiln.maven.session.Terminal;
import java.io.File;
import java.time.Duration;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Parameter;

/** Goals that flash a board. */
abstract class AbstractDeviceMojo extends AbstractByHandMojo {
    /**
     * Skips {@code kiln:flash}; verification on the board then uses the image that is on it.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.flash.skip", defaultValue = "false")
    private boolean skipFlash;

    /**
     * The probes: a serial number, {@code usb:BUS-PORT} or {@code tcp:HOST:PORT} (a server that speaks remote_bitbang),
     * several separated by commas, or {@code all}. If not set, the only one connected. Virtual boards may have any
     * name; {@code all} means those that were flashed before.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.probe")
    private String probe;

    /**
     * OpenOCD: a path, or a name on the PATH.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.openocd", defaultValue = "openocd")
    private String openocd;

    /**
     * Seconds after which flashing a device is aborted.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.flash.timeout", defaultValue = "180")
    private int timeout;

    /**
     * Whether a device that already holds the image is skipped.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.flash.preverify", defaultValue = "true")
    private boolean preverify;

    /**
     * {@code parameters} writes only the flash sectors of the parameters of graphs, on a board that has some for them; the rest of the device stays
     * as it is. {@code models} writes only the models of {@code IMAGE.update}, into the slot whose models do not run; devices that the update
     * does not suit are left as they are. If not set, the whole image is written.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.flash.only")
    private String only;

    /**
     * A file that gets a line of JSON for each device flashed; several projects may share it.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.flash.log")
    private File log;

    /**
     * Whether {@code deploy} may flash an image with an RPC server ({@code kiln.application=rpc}), which is for the bench only.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.flash.allowRpc", defaultValue = "false")
    private boolean allowRpc;

    /**
     * Faults to inject into virtual boards, to test how a CI set-up reacts to them: {@code [BOARD/]FAULT}, separated by
     * commas. Faults: {@code wrong-tap-id:ID}, {@code wrong-chip-id:ID}, {@code write-error:ADDRESS}, {@code
     * protected-sector:SECTOR}, {@code read-protected}, {@code flipped-bit:ADDRESS:BIT}, {@code dropped:BYTES}, {@code
     * silent:BYTES}, {@code power-lost:BYTES}, {@code slow:MILLISECONDS}. Refused for any other board.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.probe.faults")
    private String faults;

    final boolean isFlashSkipped() {
        return skipFlash;
    }

    final FlashSpec flashSpec() {
        return new FlashSpec(
                Optional.ofNullable(probe),
                new FlashSpec.Tool(openocd, Duration.ofSeconds(Math.max(1, timeout))),
                FlashSpec.Content.of(preverify, only == null ? "" : only.strip()),
                new FlashSpec.Journal(Optional.ofNullable(log).map(File::toPath), coordinates()),
                Optional.ofNullable(faults),
                allowRpc,
                session().getRequest().isInteractiveMode() && Terminal.isWatched());
    }

    private Optional<String> coordinates() {
        return hasProject()
                ? Optional.of(project().getGroupId() + ":" + project().getArtifactId() + ":"
                        + project().getVersion())
                : Optional.empty();
    }
}
