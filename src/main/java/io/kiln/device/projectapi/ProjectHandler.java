// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import io.kiln.device.rpc.client.TransportTimeouts;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The work of a Project API server for its client; {@link ApiServer} calls one method after the other, from one thread.
 * Every method may throw {@link MethodFailure#transportClosed} and any other exception, which the client gets as text.
 */
public interface ProjectHandler extends AutoCloseable {
    /**
     * Describes the folder and its options.
     *
     * @param tvmVersion the version of the client
     */
    ServerInfo info(String tvmVersion);

    /**
     * Generates a project from this template, whole or not at all.
     *
     * @param archive the model's archive in Model Library Format
     * @param runtime folder of a C runtime
     * @param project the new folder
     */
    void generate(Path archive, Path runtime, Path project, OptionValues options);

    void build(OptionValues options);

    /** Writes what was built to the board. */
    void flash(OptionValues options);

    /**
     * Connects to the board's program.
     *
     * @return how long sessions over the connection may take to answer
     */
    TransportTimeouts openTransport(OptionValues options);

    void closeTransport();

    /**
     * Waits for bytes of the board's program.
     *
     * @param most the largest number of bytes, at least 1
     * @return the bytes that are there; empty if none came in time
     */
    byte[] read(int most, Duration time);

    /**
     * Sends bytes to the board's program.
     *
     * @param bytes what to send
     * @param from the first byte to send
     * @return how many bytes were taken in time
     */
    int write(byte[] bytes, int from, Duration time);

    /** Disconnects, and ends every process that was started. */
    @Override
    void close();
}
