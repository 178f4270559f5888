// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.worker;

import io.kiln.base.Bytes;
import io.kiln.base.JvmEnd;
import io.kiln.base.KilnException;
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
import io.kiln.farm.state.WorkerNews.Running;
import io.kiln.process.OwnedProcesses;
import io.kiln.report.Json;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A worker: threads that take jobs, one for each emulator at once and one for each board. */
public final class Worker implements AutoCloseable {
    private static final int PAUSES = 10;
    private static final Duration NEWS_KEPT = Duration.ofSeconds(30);
    private static final Duration GIVE_BACK = Duration.ofSeconds(5);

    private final WorkerSetup setup;
    private final Log log;
    private final List<WorkerSlot> slots = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final WorkerTally tally = new WorkerTally();
    private final OwnedProcesses processes;
    private final String host = hostName();

    private Worker(WorkerSetup setup, JobRunner runner, Log log) {
        this.setup = setup;
        this.log = log;
        this.processes = new OwnedProcesses(setup.name());
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
        Thread thread = new Thread(processes, work, name);
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
            } catch (KilnException e) {
                // Also one that refuses this member now: whoever runs it may mend that, and a worker without news is
                // not seen.
                isThere = lost(events, isThere, e.problems().get(0).what());
            } catch (RuntimeException e) {
                isThere = lost(events, isThere, "unforeseen: " + e);
            }
        }
    }

    private boolean lost(FarmEvents events, boolean wasThere, String reason) {
        if (wasThere) {
            events.happened(FarmEvent.of(Kind.BROKER_LOST)
                    .with("broker", setup.address().url())
                    .with("reason", reason));
        }
        tally.pause(WorkerSlot.PAUSE);
        return false;
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
                slots.stream().flatMap(slot -> slot.running().stream()).toList(),
                slots.stream().flatMap(slot -> slot.histories().stream()).toList());
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

    /** Works until the worker is closed or the JVM is told to end, which waits for its jobs as {@link #drain} does. */
    public void untilEnd(Duration limit) throws InterruptedException {
        Thread hook = new Thread(() -> drain(limit), "worker-end");
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            await();
        } finally {
            JvmEnd.remove(hook);
        }
    }

    /**
     * Stops taking jobs, finishes those that run, and gives those back that need longer.
     *
     * @param limit for the jobs that run
     */
    public void drain(Duration limit) {
        tally.stop();
        List<Running> running =
                slots.stream().flatMap(slot -> slot.running().stream()).toList();
        if (!running.isEmpty()) {
            log.info("Takes no more jobs; finishes " + running.size() + " within " + limit.toSeconds() + " s");
        }
        try {
            if (!join(limit)) {
                tally.cut();
                processes.close();
                threads.forEach(Thread::interrupt);
                if (!join(GIVE_BACK)) {
                    log.warn("A job does not end; the broker gives it to another worker when this process has ended");
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for all threads; false if the time was not enough. */
    private boolean join(Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        for (Thread thread : threads) {
            thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
        }
        return threads.stream().noneMatch(Thread::isAlive);
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
