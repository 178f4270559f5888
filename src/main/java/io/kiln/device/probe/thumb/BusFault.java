// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

/** An access that nothing answered. Part of normal work (debuggers probe), hence without a stack trace. */
public final class BusFault extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public BusFault(int address) {
        super(String.format("bus fault at 0x%08x", address), null, false, false);
    }
}
