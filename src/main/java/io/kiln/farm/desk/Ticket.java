// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.desk;

import java.time.Instant;

/**
 * What the broker knows of a job without reading its image.
 *
 * @param job its id
 * @param client who waits for the answer
 * @param board id of the board
 * @param place {@code emulator} or {@code board}
 * @param sort what kind of task it is, whose it is and what it needs
 * @param sent when the broker got it
 */
public record Ticket(String job, String client, String board, String place, Sort sort, Instant sent) {
    /**
     * Jobs of one sort wait for the same.
     *
     * @param kind of the task, such as {@code run}
     * @param project that shares the farm with others
     * @param priority 0 to 9, the most urgent
     * @param needs labels of the workers that may have it
     * @param version of the Kiln that sent it; empty if it does not say
     * @param image the beginning of its image's digest
     */
    public record Sort(String kind, String project, int priority, Labels needs, String version, String image) {}

    FarmEvent event(FarmEvent.Kind what) {
        return FarmEvent.of(what)
                .with("job", job)
                .with("kind", sort.kind())
                .with("board", board)
                .with("place", place)
                .with("project", sort.project());
    }
}
