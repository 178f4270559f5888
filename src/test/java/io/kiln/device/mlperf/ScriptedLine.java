// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.mlperf;

import io.kiln.base.KilnException;
import io.kiln.device.transport.Transport;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** A device that says all that it will say at once. */
public final class ScriptedLine implements Transport {
    private final InputStream said;
    final ByteArrayOutputStream written = new ByteArrayOutputStream();

    public ScriptedLine(String said) {
        this.said = new ByteArrayInputStream(said.getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public InputStream input() {
        return said;
    }

    @Override
    public OutputStream output() {
        return written;
    }

    @Override
    public boolean ownsProgram() {
        return false;
    }

    @Override
    public KilnException explained(KilnException failure) {
        return failure;
    }

    @Override
    public void close() {}
}
