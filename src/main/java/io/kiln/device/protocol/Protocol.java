// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.protocol;

import io.kiln.base.KilnException;
import io.kiln.device.fault.FaultWatch;
import io.kiln.device.transport.Transport;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.function.Function;

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

    /**
     * A whole conversation with a program, from its greeting to its end.
     *
     * @param symbols the program's ELF file, for the names of functions in a fault report
     * @param text gets the text printed by the program
     */
    record Conversation(Protocol protocol, Path symbols, Consumer<String> text) {
        /**
         * Connects, talks, and ends the program if it belongs to the transport.
         *
         * @param transport an open connection; the caller closes it
         * @param talk what to do with the session
         * @return the result of {@code talk}
         * @throws KilnException if the program or the connection fails; with the fault, if the program reported one, and
         * the transport's details
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
}
