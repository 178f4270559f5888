// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import java.time.Duration;
import java.util.Optional;

/**
 * How long a user lets the programs of images take. In an emulator on this computer the times grow as busy as it is: see {@link
 * TransportTimeouts#shared()}.
 *
 * @param start until a program answers the first time; empty for {@link TransportTimeouts#EMULATOR}'s or {@link TransportTimeouts#SERIAL}'s
 * @param answer to each answer; empty for as long as what is asked may take
 */
public record SessionLimits(Optional<Duration> start, Optional<Duration> answer) {
    /** Nothing is set. */
    public static final SessionLimits USUAL = new SessionLimits(Optional.empty(), Optional.empty());

    /**
     * The times of a session.
     *
     * @param isEmulated whether the program runs in an emulator on this computer
     * @param answer the longest time to each answer if none is set; it does not grow
     */
    public TransportTimeouts timeouts(boolean isEmulated, Duration answer) {
        TransportTimeouts usual = isEmulated ? TransportTimeouts.EMULATOR : TransportTimeouts.SERIAL;
        TransportTimeouts asked = usual.withStart(start.orElse(usual.sessionStart()))
                .withReplies(this.answer.orElse(usual.sessionEstablished()));
        TransportTimeouts shared = isEmulated ? asked.shared() : asked;
        return this.answer.isPresent() ? shared : shared.withReplies(answer);
    }
}
