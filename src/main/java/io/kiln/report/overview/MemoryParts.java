// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.overview;

import io.kiln.report.BuildReport;
import io.kiln.report.BuildReport.Flash;
import io.kiln.report.BuildReport.Ram;
import io.kiln.report.page.Shown;
import java.util.List;
import java.util.stream.Stream;

/**
 * A kind of memory by what takes it.
 *
 * @param parts those that take something
 * @param total bytes of all parts
 * @param available bytes of the board; 0 if that is not known
 */
public record MemoryParts(String title, List<Part> parts, long total, long available) {
    public MemoryParts {
        parts = List.copyOf(parts);
    }

    /**
     * A use of a memory.
     *
     * @param colour its class; empty for the total
     */
    public record Part(String name, long bytes, String colour) {}

    public static MemoryParts flash(BuildReport report) {
        Flash flash = report.flash();
        return of(
                "Flash",
                flash.total(),
                flash.available(),
                new Part("code", flash.text(), "a"),
                new Part("constants of the models and strings", flash.constants(), "b"),
                new Part("initial values of variables", flash.data(), "c"));
    }

    public static MemoryParts ram(BuildReport report) {
        Ram ram = report.ram();
        Long used = report.stack().used();
        return of(
                "RAM",
                ram.total(),
                ram.available(),
                new Part("workspace of the models", ram.workspace(), "a"),
                new Part("inputs and outputs", ram.io(), "b"),
                new Part(
                        used == null ? "stack" : "stack, of which " + Shown.count(used) + " were used",
                        ram.stack(),
                        "c"),
                new Part("variables with an initial value", ram.data(), "d"),
                new Part("other variables", ram.bss() - ram.state(), "e"),
                new Part("state that models keep", ram.state(), "f"));
    }

    private static MemoryParts of(String title, long total, long available, Part... parts) {
        List<Part> taking = Stream.of(parts).filter(part -> part.bytes() > 0).toList();
        return new MemoryParts(title, taking, total, available);
    }

    /** The parts, then the sum. */
    public List<Part> withTotal() {
        return Stream.concat(parts.stream(), Stream.of(new Part("total", total, "")))
                .toList();
    }
}
