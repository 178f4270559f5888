// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.state;

import io.kiln.farm.desk.Labels;
import io.kiln.farm.desk.Labels.WorkerLabels;
import io.kiln.farm.link.FarmMember;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A worker's report on itself, sent every few seconds as JSON.
 *
 * @param name unique in the farm
 * @param about what runs it, and where
 * @param slots how many emulators run at once
 * @param jobs how many it answered
 * @param offers what it has
 * @param running jobs that it runs now
 * @param histories what its boards have been through
 */
public record WorkerNews(
        String name,
        About about,
        int slots,
        Jobs jobs,
        List<Offered> offers,
        List<Running> running,
        List<BoardHistory> histories) {
    public WorkerNews {
        offers = List.copyOf(offers);
        running = List.copyOf(running);
        histories = List.copyOf(histories);
    }

    /**
     * Its labels, and those of its boards.
     *
     * @throws io.kiln.base.KilnException if they are no labels
     */
    WorkerLabels labels() {
        Map<String, Labels> slots = new TreeMap<>();
        offers.stream()
                .filter(offer -> !offer.labels().isEmpty())
                .forEach(offer ->
                        slots.put(FarmMember.plain(offer.probe()), Labels.parse("labels of " + name, offer.labels())));
        return new WorkerLabels(Labels.parse("labels of " + name, about.labels()), slots);
    }

    /**
     * What runs a worker, and where.
     *
     * @param version of its Kiln
     * @param labels as in {@code silicon=real,room=3}; empty if it has none
     * @param host name of its computer
     * @param process its process id there
     */
    public record About(String version, String labels, String host, long process) {}

    /**
     * Jobs of a worker.
     *
     * @param done those that it answered
     * @param failed those of them that failed
     */
    public record Jobs(long done, long failed) {}

    /**
     * A board that a worker emulates or has.
     *
     * @param board its id
     * @param core such as {@code cortex-m4}
     * @param place {@code emulator} or {@code board}
     * @param probe serial number of the probe; empty for an emulator
     * @param state {@code ready}, or {@code leased elsewhere}
     * @param labels of the board itself; empty if it has none
     */
    public record Offered(String board, String core, String place, String probe, String state, String labels) {}

    /**
     * A job that runs.
     *
     * @param job its id
     * @param board id of the board
     * @param place {@code emulator} or {@code board}
     * @param seconds since it was begun
     */
    public record Running(String job, String board, String place, long seconds) {}
}
