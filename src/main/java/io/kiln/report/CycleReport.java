// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import io.kiln.cycles.core.CycleRange;
import io.kiln.report.Json.OrEmpty;
import io.kiln.report.Json.OrNull;
import java.util.List;
import java.util.Locale;

/**
 * Estimated cycles of one inference, all models added, in {@code profile.json} and {@code report.json}.
 *
 * @param core whose instruction timings they are from
 * @param cycles without wait states
 * @param stallsAtMost further cycles that the board's flash can cost, if nothing that it prefetches or caches helps; null if its wait
 *     states are not known
 * @param hertz clock of the core; null if the board's profile does not say it
 * @param microseconds at that clock, with the waits of the board's memories; if they are not known, without wait states and with all of them;
 *     null without a clock
 * @param unknownInstructions executed instructions that the core's table does not have
 * @param memory with the waits of the board's memories; null if its profile does not describe them
 */
public record CycleReport(
        String core,
        CycleRange cycles,

        @OrNull Long stallsAtMost,

        @OrNull Long hertz,

        @OrNull Time microseconds,

        long unknownInstructions,

        @OrNull MemoryReport memory) {
    private static final double MICROSECONDS = 1e6;
    private static final double MILLI = 1e3;

    /**
     * A range of time in microseconds.
     *
     * @param expected without wait states
     */
    public record Time(double low, double expected, double high) {
        private static Time of(CycleRange cycles, long stalls, double hertz) {
            return new Time(
                    rounded(cycles.low() / hertz),
                    rounded(cycles.expected() / hertz),
                    rounded((cycles.high() + stalls) / hertz));
        }

        private static double rounded(double seconds) {
            return Math.round(seconds * MICROSECONDS * MILLI) / MILLI;
        }
    }

    /** A report of cycles that stalls of the flash, if they are known, can prolong. */
    public static CycleReport of(String core, CycleRange cycles, Long stallsAtMost, Long hertz, long unknown) {
        long stalls = stallsAtMost == null ? 0 : stallsAtMost;
        Time time = hertz == null ? null : Time.of(cycles, stalls, hertz);
        return new CycleReport(core, cycles, stallsAtMost, hertz, time, unknown, null);
    }

    public CycleReport with(MemoryReport waits) {
        BoardCycles all = waits.cycles();
        Time time = hertz == null
                ? null
                : Time.of(new CycleRange(all.low(), all.expected(), all.high()), 0, hertz.doubleValue());
        return new CycleReport(core, cycles, stallsAtMost, hertz, time, unknownInstructions, waits);
    }

    /** One line for people. */
    public String text() {
        String stalls = stallsAtMost == null || memory != null
                ? ""
                : String.format(Locale.ROOT, ", and at most %,d for the flash", stallsAtMost);
        String time = microseconds == null
                ? ""
                : String.format(
                        Locale.ROOT,
                        "; %,.2f ms (%,.2f to %,.2f) at %,.0f MHz",
                        microseconds.expected() / MILLI,
                        microseconds.low() / MILLI,
                        microseconds.high() / MILLI,
                        hertz / MICROSECONDS);
        String unknown = unknownInstructions == 0
                ? ""
                : String.format(
                        Locale.ROOT,
                        "; %,d instructions are not in the core's table and counted like additions",
                        unknownInstructions);
        return String.format(
                Locale.ROOT,
                "Estimated for %s: %,d cycles (%,d to %,d)%s%s%s",
                core,
                cycles.expected(),
                cycles.low(),
                cycles.high(),
                stalls,
                time,
                unknown);
    }

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
                String title, long expected, @OrNull Double microseconds) {

            /** One line for people. */
            public String text() {
                String time =
                        microseconds == null ? "" : String.format(Locale.ROOT, ", %,.2f ms", microseconds / MILLI);
                return String.format(Locale.ROOT, "%s: %,d cycles%s", title, expected, time);
            }
        }

        /** One line for people. */
        public String text() {
            String unknown = unknownLoads == 0
                    ? ""
                    : String.format(Locale.ROOT, "; %,d loads are of unknown address", unknownLoads);
            return String.format(
                    Locale.ROOT,
                    "With the waits of the board's memories: %,d cycles (%,d to %,d), of which %,d wait for code and"
                            + " %,d for constants%s",
                    cycles.expected(),
                    cycles.low(),
                    cycles.high(),
                    cycles.fetchStalls(),
                    cycles.dataStalls(),
                    unknown);
        }
    }

    /**
     * Estimated cycles with what the board's memories make the core wait.
     *
     * @param zeroWait without that
     * @param fetchStalls for code
     * @param dataStalls for constants
     * @param expected all three, and what chips were measured to take more
     * @param low the least
     * @param high the most
     */
    public record BoardCycles(long zeroWait, long fetchStalls, long dataStalls, long expected, long low, long high) {}
}
