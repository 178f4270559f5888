// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.worker;

import io.kiln.base.Bytes;
import io.kiln.base.Log;
import io.kiln.farm.desk.FarmEvent;
import io.kiln.farm.desk.FarmEvent.Kind;
import io.kiln.farm.desk.FarmEvents;
import io.kiln.farm.job.RunPlace;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmLost;
import io.kiln.farm.link.FarmMessage;
import io.kiln.farm.link.FarmMessage.Manner;
import io.kiln.farm.link.FarmQueues;
import io.kiln.farm.state.WorkerNews;
import io.kiln.farm.state.WorkerNews.Offered;
import io.kiln.report.Json;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A worker: threads that take jobs, one for each emulator at once and one for each board. */
public final class Worker implements AutoCloseable {
    private static final int PAUSES = 10;
    private static final Duration NEWS_KEPT = Duration.ofSeconds(30);

    private final WorkerSetup setup;
    private final Log log;
    private final List<WorkerSlot> slots = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final WorkerTally tally = new WorkerTally();
    private final String host = hostName();

    private Worker(WorkerSetup setup, JobRunner runner, Log log) {
        this.setup = setup;
        this.log = log;
        List<Offer> emulators = setup.offers().stream()
                .filter(offer -> offer.place() == RunPlace.EMULATOR)
                .toList();
        for (int i = 0; i < setup.slots() && !emulators.isEmpty(); i++) {
            slots.add(new WorkerSlot(setup, String.valueOf(i), emulators, runner, tally, log));
        }
        setup.offers().stream()
                .filter(offer -> offer.place() == RunPlace.BOARD)
                .forEach(board ->
                        slots.add(new WorkerSlot(setup, board.probe().orElse(""), List.of(board), runner, tally, log)));
    }

    /**
     * Starts a worker. It looks for the broker again whenever it is lost.
     *
     * @throws io.kiln.base.KilnException if the broker refuses it, or cannot be reached by waiting
     */
    public static Worker start(WorkerSetup setup, JobRunner runner, Log log) {
        try {
            FarmLink.open(setup.address()).close();
        } catch (FarmLost e) {
            if (!e.isAbsent()) {
                throw e;
            }
            log.warn(e.getMessage() + " Waiting for it");
        }
        Worker worker = new Worker(setup, runner, log);
        for (int i = 0; i < worker.slots.size(); i++) {
            worker.begin(worker.slots.get(i), setup.name() + "-" + i);
        }
        worker.begin(worker::tell, setup.name() + "-news");
        return worker;
    }

    private void begin(Runnable work, String name) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    private void tell() {
        FarmEvents events = FarmEvents.to(log);
        boolean isThere = false;
        while (!tally.isStopped()) {
            try (FarmLink link = FarmLink.open(setup.address(), setup.identity().member("news"))) {
                isThere = true;
                events.happened(FarmEvent.of(Kind.BROKER_FOUND)
                        .with("broker", setup.address().url()));
                while (!tally.isStopped()) {
                    List<Offered> offered = offered();
                    Manner manner = Manner.fleeting(NEWS_KEPT);
                    link.send(FarmQueues.NEWS, new FarmMessage(Map.of(), Bytes.ofText(Json.line(news())), manner));
                    // A lease that was taken or lost is told at once.
                    for (int i = 0; i < PAUSES && offered.equals(offered()); i++) {
                        tally.pause(WorkerSlot.PAUSE);
                    }
                }
            } catch (FarmLost e) {
                if (isThere) {
                    events.happened(FarmEvent.of(Kind.BROKER_LOST)
                            .with("broker", setup.address().url())
                            .with("reason", e.problems().get(0).what()));
                }
                isThere = false;
                tally.pause(WorkerSlot.PAUSE);
            }
        }
    }

    private WorkerNews news() {
        return new WorkerNews(
                setup.name(),
                new WorkerNews.About(
                        setup.identity().version(),
                        setup.identity().labels().text(),
                        host,
                        ProcessHandle.current().pid()),
                setup.slots(),
                new WorkerNews.Jobs(tally.done(), tally.failed()),
                offered(),
                slots.stream().flatMap(slot -> slot.running().stream()).toList());
    }

    private List<Offered> offered() {
        return slots.stream()
                .flatMap(slot -> slot.offered().stream())
                .distinct()
                .toList();
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown";
        }
    }

    /** Number of jobs that it answered. */
    public long done() {
        return tally.done();
    }

    /** Waits until the worker is closed, by another thread. */
    public void await() throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Stops taking jobs, waits for those that run, and gives the boards back. */
    @Override
    public void close() {
        tally.stop();
        try {
            await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
