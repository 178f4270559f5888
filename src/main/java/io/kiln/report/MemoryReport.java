// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import io.kiln.report.Json.OrEmpty;
import io.kiln.report.Json.OrNull;
import java.util.List;
import java.util.Locale;

/**
 * What the board's memories make one inference take, all models added, in {@code profile.json} and {@code report.json}.
 *
 * @param cycles in all
 * @param loops those that do not fit in the cache of code, by what they wait; the ones that wait most
 * @param changes what other settings would make of it
 * @param unknownLoads loads whose address is not known; they count as loads from RAM, but for {@code high}
 */
public record MemoryReport(
        BoardCycles cycles,

        @OrEmpty List<Loop> loops,

        @OrEmpty List<Change> changes,

        long unknownLoads) {
    private static final double MILLI = 1e3;

    public MemoryReport {
        loops = List.copyOf(loops);
        changes = List.copyOf(changes);
    }

    /**
     * A loop that is larger than the cache of code, so that each turn waits for all of it.
     *
     * @param function the C function
     * @param address of its first instruction in the board's image
     * @param bytes from there to its end, without what it calls
     * @param cacheBytes what it would have to fit in
     * @param fetchStalls cycles that it waited, without the loops in it
     */
    public record Loop(String function, long address, long bytes, long cacheBytes, long fetchStalls) {
        /** One line for people. */
        public String text() {
            return String.format(
                    Locale.ROOT, "%s: %,d of %,d bytes, %,d cycles", function, bytes, cacheBytes, fetchStalls);
        }
    }

    /**
     * Another setting of the memories.
     *
     * @param title one line for people
     * @param expected cycles then
     * @param microseconds at the clock that the core has then; null if it is not known
     */
    public record Change(
            String title,
            long expected,

            @OrNull Double microseconds) {
        /** One line for people. */
        public String text() {
            String time = microseconds == null ? "" : String.format(Locale.ROOT, ", %,.2f ms", microseconds / MILLI);
            return String.format(Locale.ROOT, "%s: %,d cycles%s", title, expected, time);
        }
    }

    /** One line for people. */
    public String text() {
        String unknown =
                unknownLoads == 0 ? "" : String.format(Locale.ROOT, "; %,d loads are of unknown address", unknownLoads);
        return String.format(
                Locale.ROOT,
                "With the waits of the board's memories: %,d cycles (%,d to %,d), of which %,d wait for code and %,d for constants%s",
                cycles.expected(),
                cycles.low(),
                cycles.high(),
                cycles.fetchStalls(),
                cycles.dataStalls(),
                unknown);
    }
}
