// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.image;

import io.kiln.firmware.image.Measurement.Flash;
import io.kiln.firmware.image.Measurement.Ram;
import io.kiln.firmware.image.Measurement.Region;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;

/** Prints a measurement for people. */
public final class MemoryTable {
    private static final int LARGEST = 5;

    private MemoryTable() {}

    /** One line: used and available memory. */
    public static String line(Measurement measurement) {
        return "flash " + of(measurement.flash().total(), measurement.flash().available()) + ", RAM "
                + of(measurement.ram().total(), measurement.ram().available());
    }

    /** Every memory, what it is used for, and the largest parts. */
    public static String table(Measurement measurement) {
        List<String> lines = new ArrayList<>();
        if (!measurement.regions().isEmpty()) {
            lines.add(row("memory", "needed", "available", ""));
            for (Region region : measurement.regions()) {
                String excess = region.excess() == 0 ? "" : number(region.excess()) + " too many ";
                String reach =
                        region.targets().isEmpty() ? "" : "reached by " + String.join(", ", region.targets()) + " only";
                lines.add(row(region.name(), number(region.used()), number(region.available()), excess + reach));
            }
        }
        Flash flash = measurement.flash();
        lines.add("flash: " + number(flash.text()) + " code, " + number(flash.constants()) + " constants, "
                + number(flash.data()) + " initial values");
        Ram ram = measurement.ram();
        lines.add("RAM: " + number(ram.workspace()) + " workspace, " + number(ram.io())
                + " inputs and outputs of the default application, "
                + number(ram.stack()) + " stack, " + number(ram.data() + ram.bss()) + " other variables"
                + (ram.state() > 0 ? ", " + number(ram.state()) + " of them state of models" : ""));
        measurement.largest().stream()
                .limit(LARGEST)
                .forEach(item -> lines.add(String.format(
                        Locale.ROOT,
                        "  %12s  %s (%s)",
                        number(item.bytes()),
                        item.name(),
                        item.writable() ? "RAM" : "flash")));
        return String.join("\n", lines);
    }

    private static String row(String first, String second, String third, String last) {
        return String.format(Locale.ROOT, "  %-12s %12s %12s  %s", first, second, third, last)
                .stripTrailing();
    }

    private static String of(long used, OptionalLong available) {
        return number(used) + (available.isPresent() ? " of " + number(available.getAsLong()) : "") + " bytes";
    }

    private static String number(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }
}
