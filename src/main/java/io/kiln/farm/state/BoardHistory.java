// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.state;

/**
 * What a board has been through, as its worker remembers it.
 *
 * @param board its id
 * @param probe serial number of its probe
 * @param since when the worker first used it, in ISO form
 * @param counts what happened since then
 * @param last the last job
 */
public record BoardHistory(String board, String probe, String since, Counts counts, Last last) {
    /**
     * Counts.
     *
     * @param jobs that ran on it
     * @param failures those of them that failed
     * @param flashes times that its flash was written
     * @param powerCycles times that its power was switched off and on
     */
    public record Counts(long jobs, long failures, long flashes, long powerCycles) {}

    /**
     * The last job.
     *
     * @param time when it ended, in ISO form; empty if there was none
     * @param image digest of what it flashed
     * @param failure why the last job failed that did; empty if none did
     */
    public record Last(String time, String image, String failure) {
        private static final int LONGEST = 200;

        public Last {
            failure = failure.length() <= LONGEST ? failure : failure.substring(0, LONGEST) + "…";
        }
    }

    /** One of a board that is new. */
    public static BoardHistory begin(String board, String probe, String now) {
        return new BoardHistory(board, probe, now, new Counts(0, 0, 0, 0), new Last("", "", ""));
    }

    /**
     * The history with another job.
     *
     * @param image digest of its image
     * @param failure why it failed; empty if it did not
     * @param flashes how often it wrote the flash
     * @param powerCycles how often it switched the power
     */
    public BoardHistory with(String now, String image, String failure, long flashes, long powerCycles) {
        Counts more = new Counts(
                counts.jobs() + 1,
                counts.failures() + (failure.isEmpty() ? 0 : 1),
                counts.flashes() + flashes,
                counts.powerCycles() + powerCycles);
        return new BoardHistory(
                board, probe, since, more, new Last(now, image, failure.isEmpty() ? last.failure() : failure));
    }
}
