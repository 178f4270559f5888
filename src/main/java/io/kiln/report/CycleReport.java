// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import io.kiln.report.Json.OrNull;
import io.kiln.cycles.core.CycleRange;
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
}
