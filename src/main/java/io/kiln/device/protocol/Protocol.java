// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.protocol;

import io.kiln.device.transport.Transport;
import java.util.function.Consumer;

/** A protocol between host and program over a {@link Transport}. */
public interface Protocol {
    /**
     * Starts a session. It waits for a program that starts with the transport, and asks one that ran before for a sign
     * of life.
     *
     * @param transport an open connection to the program; the caller closes it
     * @param text gets the text that the program prints beside its answers, as it arrives
     * @throws io.kiln.base.KilnException if no program that speaks this protocol answers
     */
    ModelSession connect(Transport transport, Consumer<String> text);
}
