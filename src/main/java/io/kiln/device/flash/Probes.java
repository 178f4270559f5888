// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Finds the USB devices that are probes for an interface script of OpenOCD. OpenOCD cannot list them, but the system
 * can. The ids come from the scripts and from vendors' lists.
 */
public final class Probes {
    private static final int ST = 0x0483;
    private static final int SEGGER = 0x1366;
    private static final Set<Integer> ST_LINKS =
            Set.of(0x3744, 0x3748, 0x374b, 0x374d, 0x374e, 0x374f, 0x3752, 0x3753, 0x3754, 0x3755, 0x3757);

    private Probes() {}

    /** The probes for an interface script, in the order of the devices; empty if Kiln does not know the ids of its probes. */
    public static Optional<List<UsbDevice>> of(String interfaceConfig, List<UsbDevice> devices) {
        String script = interfaceConfig.substring(interfaceConfig.lastIndexOf('/') + 1);
        return rule(script).map(rule -> devices.stream().filter(rule).toList());
    }

    private static Optional<Predicate<UsbDevice>> rule(String script) {
        if (script.startsWith("stlink")) {
            return Optional.of(device -> device.vendor() == ST && ST_LINKS.contains(device.product()));
        }
        if (script.startsWith("jlink")) {
            return Optional.of(device -> device.vendor() == SEGGER);
        }
        if (script.equals("cmsis-dap.cfg")) {
            return Optional.of(device -> device.name().toUpperCase(Locale.ROOT).contains("CMSIS-DAP"));
        }
        return Optional.empty();
    }

    /** The probe of a device: by serial number, or by its place if it has none. */
    public static Probe probe(UsbDevice device) {
        return device.serial().isEmpty() ? new Probe.Location(device.location()) : new Probe.Serial(device.serial());
    }
}
