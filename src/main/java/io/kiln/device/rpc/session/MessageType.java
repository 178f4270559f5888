// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.session;

import java.util.Arrays;
import java.util.Optional;

/** Types of session messages. */
public enum MessageType {
    /** Asks the other side for a session; body: the version. */
    START_SESSION_INIT(0x00),
    /** Grants a session; body: the version. */
    START_SESSION_REPLY(0x01),
    /** The sender has no session any more: it has just started. */
    TERMINATE_SESSION(0x02),
    /** A text for people, sent unasked. */
    LOG(0x03),
    /** One RPC packet. */
    NORMAL(0x10);

    private final int code;

    MessageType(int code) {
        this.code = code;
    }

    /** The byte that says the type. */
    int code() {
        return code;
    }

    static Optional<MessageType> of(int code) {
        return Arrays.stream(values()).filter(type -> type.code == code).findFirst();
    }
}
