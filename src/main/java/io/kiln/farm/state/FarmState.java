// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.state;

import io.kiln.farm.desk.Hold;
import java.util.List;

/**
 * The state of a farm, as in {@code farm.json}.
 *
 * @param farm where its broker listens
 * @param time in ISO form
 * @param desk what decides which job goes where
 * @param workers in the order of their names
 * @param queues messages by queue
 * @param failures the last ones, the newest first
 */
public record FarmState(
        String farm, String time, Desk desk, List<Seen> workers, List<Queue> queues, List<FarmFailure> failures) {
    public FarmState {
        workers = List.copyOf(workers);
        queues = List.copyOf(queues);
        failures = List.copyOf(failures);
    }

    /**
     * What the broker knows beside its queues.
     *
     * @param version of its Kiln
     * @param oldestSeconds how long the oldest job has been waiting; 0 if none is
     * @param held workers and boards that get no jobs
     */
    public record Desk(String version, long oldestSeconds, List<Hold> held) {
        public Desk {
            held = List.copyOf(held);
        }
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
