// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.protocol;

import io.kiln.device.transport.SessionLimits;
import io.kiln.device.transport.Transport;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * The protocol of the default application: microTVM's framing on the console, as described in {@code kiln_app.h}.
 *
 * @param limit longest time without an answer, for each request, and for the banner of a program that starts with the
 * transport, where none is set
 * @param limits what is set
 */
public record ConsoleProtocol(Duration limit, SessionLimits limits) implements Protocol {
    /** Longest wait for the banner of a program that may have printed it already. */
    private static final Duration TO_BOOT = Duration.ofSeconds(3);

    /** The protocol without limits of a user. */
    public ConsoleProtocol(Duration limit) {
        this(limit, SessionLimits.USUAL);
    }

    @Override
    public FirmwareSession connect(Transport transport, Consumer<String> text) {
        boolean ownsProgram = transport.ownsProgram();
        SessionLimits set = limits.of(ownsProgram);
        Duration toBoot = set.start().orElse(ownsProgram ? limit : TO_BOOT);
        Duration toAnswer = set.answer().orElse(limit);
        return ownsProgram
                ? FirmwareSession.open(transport.input(), transport.output(), toBoot, toAnswer, text)
                : FirmwareSession.join(transport.input(), transport.output(), toBoot, toAnswer, text);
    }
}
