// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.state;

import java.util.List;

/**
 * The state of a farm, as in {@code farm.json}.
 *
 * @param farm where its broker listens
 * @param time in ISO form
 * @param workers in the order of their names
 * @param queues messages by queue
 * @param failures the last ones, the newest first
 */
public record FarmState(String farm, String time, List<Seen> workers, List<Queue> queues, List<FarmFailure> failures) {
    public FarmState {
        workers = List.copyOf(workers);
        queues = List.copyOf(queues);
        failures = List.copyOf(failures);
    }

    /**
     * A worker.
     *
     * @param seconds since it was heard of
     * @param news what it said
     */
    public record Seen(long seconds, WorkerNews news) {}

    /**
     * A queue.
     *
     * @param name its name
     * @param messages that wait or are being worked on
     */
    public record Queue(String name, long messages) {}
}
