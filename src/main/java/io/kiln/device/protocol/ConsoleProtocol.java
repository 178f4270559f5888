// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.protocol;

import io.kiln.device.transport.Transport;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * The protocol of the default application: microTVM's framing on the console, as described in {@code kiln_app.h}.
 *
 * @param limit longest time without an answer, for each request, and for the banner of a program that starts with the
 * transport
 */
public record ConsoleProtocol(Duration limit) implements Protocol {
    /** Longest wait for the banner of a program that may have printed it already. */
    private static final Duration TO_BOOT = Duration.ofSeconds(3);

    @Override
    public FirmwareSession connect(Transport transport, Consumer<String> text) {
        return transport.ownsProgram()
                ? FirmwareSession.open(transport.input(), transport.output(), limit, text)
                : FirmwareSession.join(transport.input(), transport.output(), TO_BOOT, limit, text);
    }
}
