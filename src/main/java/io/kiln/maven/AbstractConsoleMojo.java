// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.spec.ConsoleSpec;
import io.kiln.flow.spec.DeviceSpec;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Parameter;

/** Goals that flash a board and talk to it. */
abstract class AbstractConsoleMojo extends AbstractDeviceMojo {
    /**
     * The board's serial port, such as {@code /dev/ttyACM0} or {@code COM3}, or {@code tcp:PORT}, a port of this computer. If not
     * set, the port with the board's USB ids.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.monitor.port")
    private String port;

    /**
     * Serial number of the USB device that provides the port, if several boards are connected.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.monitor.serial")
    private String serial;

    /**
     * Bits per second of the serial port. If not set, the board's.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.monitor.baud")
    private Integer baud;

    final DeviceSpec deviceSpec() {
        return new DeviceSpec(
                flashSpec(),
                !isFlashSkipped(),
                new ConsoleSpec(Optional.ofNullable(port), Optional.ofNullable(serial), Optional.ofNullable(baud)));
    }
}
