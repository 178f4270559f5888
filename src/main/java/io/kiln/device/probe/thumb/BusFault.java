// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

import java.util.Locale;

/** An access to an address without memory. Has no stack trace, because debuggers cause it regularly by probing. */
public final class BusFault extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public BusFault(int address) {
        super(String.format(Locale.ROOT, "bus fault at 0x%08x", address), null, false, false);
    }
}
