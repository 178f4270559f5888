// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.base.KilnException;
import io.kiln.device.transport.Transport;
import io.kiln.process.RunningProcess;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The console of an image in an emulator or on this computer: the process's standard input and output.
 *
 * @param image the ELF file
 * @param process the running emulator; closing the transport ends it
 * @param held whether a client holds the line
 */
record EmulatorTransport(Emulator emulator, Path image, RunningProcess process, AtomicBoolean held)
        implements Transport {
    /** A line that nobody holds. */
    EmulatorTransport(Emulator emulator, Path image, RunningProcess process) {
        this(emulator, image, process, new AtomicBoolean());
    }

    @Override
    public InputStream input() {
        return process.output();
    }

    @Override
    public OutputStream output() {
        return process.input();
    }

    @Override
    public boolean ownsProgram() {
        return true;
    }

    @Override
    public KilnException explained(KilnException failure) {
        return emulator.explained(failure, image, process);
    }

    @Override
    public void close() {
        process.close();
    }
}
