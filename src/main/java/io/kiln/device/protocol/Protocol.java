// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.protocol;

import io.kiln.device.transport.Transport;
import java.util.function.Consumer;

/** What a host and a program say to each other over a {@link Transport}. */
public interface Protocol {
    /**
     * Begins a conversation. A program that starts with the transport is waited for; one that ran before is asked whether it is there.
     *
     * @param transport an open line to the program; it stays the caller's to close
     * @param text gets the text that the program prints beside its answers, as it comes
     * @throws io.kiln.base.KilnException if no program that speaks this protocol answers
     */
    ModelSession connect(Transport transport, Consumer<String> text);
}
