// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.protocol;

import io.kiln.base.KilnException;
import io.kiln.device.fault.FaultWatch;
import io.kiln.device.transport.Transport;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A whole conversation with a program, from its greeting to its end.
 *
 * @param protocol what is said
 * @param symbols the ELF file that the program was made of, for names of functions if it stops with a fault
 * @param text gets the text that the program prints
 */
public record Conversation(Protocol protocol, Path symbols, Consumer<String> text) {
    /**
     * Connects, talks, and ends the program if it belongs to the transport.
     *
     * @param transport an open line; it stays the caller's to close
     * @param talk what to ask the program
     * @return what {@code talk} returned
     * @throws KilnException if the program or the line fails; with the fault, if the program reported one, and what the transport knows
     */
    public <T> T over(Transport transport, Function<ModelSession, T> talk) {
        FaultWatch faults = new FaultWatch(text);
        try (ModelSession session = protocol.connect(transport, faults)) {
            T result = talk.apply(session);
            if (transport.ownsProgram()) {
                session.exit();
            }
            return result;
        } catch (KilnException e) {
            throw transport.explained(faults.explained(e, symbols));
        }
    }
}
