// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.worker;

import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.JvmEnd;
import io.kiln.base.JvmEnd.EndGroup;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.farm.desk.FarmEvent;
import io.kiln.farm.desk.FarmEvent.FarmEvents;
import io.kiln.farm.desk.FarmEvent.Kind;
import io.kiln.farm.job.FarmAnswer;
import io.kiln.farm.job.FarmAnswer.Failed;
import io.kiln.farm.job.FarmAnswer.FarmResult;
import io.kiln.farm.job.FarmAnswer.Ran;
import io.kiln.farm.job.FarmAnswer.ResultFormat;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.FarmJob.JobFormat;
import io.kiln.farm.job.RunPlace;
import io.kiln.farm.lease.BoardLeases.BoardLease;
import io.kiln.farm.link.FarmInbox;
import io.kiln.farm.link.FarmInbox.Received;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmLink.FarmLost;
import io.kiln.farm.link.FarmMember;
import io.kiln.farm.link.FarmMessage;
import io.kiln.farm.link.FarmMessage.Manner;
import io.kiln.farm.link.FarmQueues;
import io.kiln.farm.state.BoardHistory;
import io.kiln.farm.state.FarmFailure;
import io.kiln.farm.state.FarmKeeper;
import io.kiln.farm.state.FarmKeeper.WorkerNews;
import io.kiln.farm.state.FarmKeeper.WorkerNews.Offered;
import io.kiln.farm.state.FarmKeeper.WorkerNews.Running;
import io.kiln.farm.worker.WorkerSetup.JobRunner;
import io.kiln.farm.worker.WorkerSetup.JobRunner.Done;
import io.kiln.farm.worker.WorkerSetup.Offer;
import io.kiln.report.Json;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

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
    private final EndGroup processes;
    private final String host = hostName();

    private Worker(WorkerSetup setup, JobRunner runner, Log log) {
        this.setup = setup;
        this.log = log;
        this.processes = new EndGroup(setup.name());
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

    /** One thread of a worker: runs one job at a time, in an emulator or on one board. */
    private static final class WorkerSlot implements Runnable {
        /** Pause before the next try to reach the broker, or to lease the board. */
        static final Duration PAUSE = Duration.ofMillis(500);

        private static final Duration POLL = Duration.ofMillis(500);
        private static final Duration RESULT_KEPT = Duration.ofDays(1);

        private final WorkerSetup setup;
        private final FarmMember member;
        private final List<Offer> offers;
        private final JobRunner runner;
        private final WorkerTally tally;
        private final Log log;
        private final FarmEvents events;
        private final AtomicReference<Optional<Current>> current = new AtomicReference<>(Optional.empty());
        private volatile boolean isLeased;
        private Optional<FarmMessage> unsent = Optional.empty();
        private String warned = "";

        private record Current(FarmJob job, long since) {}

        /**
         * @param name unique in the worker
         * @param offers emulators, or one board
         */
        WorkerSlot(WorkerSetup setup, String name, List<Offer> offers, JobRunner runner, WorkerTally tally, Log log) {
            this.setup = setup;
            this.member = setup.identity().member(name);
            this.offers = List.copyOf(offers);
            this.runner = runner;
            this.tally = tally;
            this.log = log;
            this.events = FarmEvents.to(log);
        }

        private Optional<String> probe() {
            return offers.get(0).probe();
        }

        List<Offered> offered() {
            String state = probe().isEmpty() || isLeased ? "ready" : "leased elsewhere";
            return offers.stream()
                    .map(offer -> new Offered(
                            offer.board(),
                            offer.core(),
                            offer.placeText(),
                            offer.probe().orElse(""),
                            state,
                            offer.labels().text()))
                    .toList();
        }

        List<BoardHistory> histories() {
            return offers.stream()
                    .flatMap(offer -> runner.history(offer).stream())
                    .toList();
        }

        List<Running> running() {
            return current.get().stream()
                    .map(now -> new Running(
                            now.job().id(),
                            now.job().board(),
                            offers.get(0).placeText(),
                            Duration.ofNanos(System.nanoTime() - now.since()).toSeconds()))
                    .toList();
        }

        @Override
        public void run() {
            while (!tally.isStopped()) {
                try {
                    if (probe().isEmpty()) {
                        serve(() -> true);
                    } else {
                        serveLeased(probe().get());
                    }
                } catch (FarmLost e) {
                    log.debug(e.getMessage());
                } catch (KilnException e) {
                    warn(e.getMessage());
                } catch (RuntimeException | Error e) {
                    // Also if the lease of the board ended meanwhile.
                    warn("unforeseen: " + e);
                }
                if (Thread.interrupted()) {
                    log.debug(setup.name() + ": was interrupted");
                }
                tally.pause(PAUSE);
            }
        }

        /** Warns once of what stays wrong: it is tried again and again. */
        private void warn(String what) {
            if (!what.equals(warned)) {
                warned = what;
                log.warn(setup.name() + ": " + what);
            }
        }

        private void serveLeased(String probe) {
            Optional<BoardLease> taken = setup.leases().take(probe);
            if (taken.isEmpty()) {
                return;
            }
            try (BoardLease lease = taken.get();
                    LeaseRenewal renewal =
                            LeaseRenewal.start(lease, setup.leases().term(), Thread.currentThread())) {
                isLeased = true;
                events.happened(FarmEvent.of(Kind.LEASE_TAKEN).with("probe", probe));
                serve(renewal::isHeld);
                if (!renewal.isHeld()) {
                    events.happened(FarmEvent.of(Kind.LEASE_LOST).with("probe", probe));
                }
            } finally {
                isLeased = false;
            }
        }

        @FunctionalInterface
        private interface Permission {
            boolean isGiven();
        }

        private void serve(Permission permission) {
            try (FarmLink link = FarmLink.open(setup.address(), member);
                    FarmInbox inbox = link.inbox(FarmQueues.JOBS, filter())) {
                if (unsent.isPresent()) {
                    link.send(FarmQueues.ANSWERS, unsent.get());
                    unsent = Optional.empty();
                }
                while (!tally.isStopped() && permission.isGiven()) {
                    Optional<Received> next = inbox.receive(POLL);
                    if (next.isPresent()) {
                        work(link, next.get());
                    }
                }
            }
        }

        /** The selector for jobs that fit the offers; a broker of another make has no desk that looks at labels. Ids have no character that means something in it. */
        private String filter() {
            String boards =
                    offers.stream().map(offer -> "'" + offer.board() + "'").collect(Collectors.joining(", "));
            String wanted = FarmQueues.PLACE + " = '" + offers.get(0).placeText() + "' AND " + FarmQueues.BOARD
                    + " IN (" + boards + ")";
            return setup.address().isForeign() ? wanted + " AND " + FarmQueues.mayTake(member) : wanted;
        }

        private void work(FarmLink link, Received received) {
            FarmMessage message = received.message();
            events.happened(event(Kind.JOB_TAKEN, message));
            long begin = System.nanoTime();
            Done done = done(message);
            if (done.answer().hasFailed() && (tally.isCut() || JvmEnd.isNear())) {
                // The end of the worker, or Ctrl-C, may have ended its emulator, too. Another worker gets the job.
                events.happened(event(Kind.JOB_RETURNED, message));
                boolean unused = Thread.interrupted();
                return;
            }
            boolean isFailed = done.answer() instanceof Failed;
            if (isFailed) {
                FarmKeeper.fail(link, failure(message, (Failed) done.answer()));
            }
            String job = message.property(FarmQueues.JOB);
            String client = message.property(FarmQueues.CLIENT);
            if (FarmJob.isId(job) && FarmJob.isId(client)) {
                send(link, message, done);
            }
            received.done().run();
            tally.count(isFailed);
            events.happened(event(Kind.JOB_ANSWERED, message)
                    .with("result", outcome(done.answer()))
                    .with("seconds", Duration.ofNanos(System.nanoTime() - begin).toMillis() / 1000.0));
        }

        private FarmEvent event(Kind kind, FarmMessage message) {
            return FarmEvent.of(kind)
                    .with("job", message.property(FarmQueues.JOB))
                    .with("kind", message.property(FarmQueues.KIND))
                    .with("board", message.property(FarmQueues.BOARD))
                    .with("place", message.property(FarmQueues.PLACE))
                    .with("slot", member.slot());
        }

        /**
         * Sends a result. One that finds no broker is sent to the next one: the job may have been given to another worker, but the
         * first result counts.
         */
        private void send(FarmLink link, FarmMessage task, Done done) {
            String job = task.property(FarmQueues.JOB);
            String digest = Digests.sha256(task.body().toArray());
            Map<String, String> properties = Map.of(
                    FarmQueues.JOB, job,
                    FarmQueues.CLIENT, task.property(FarmQueues.CLIENT),
                    FarmQueues.RESULT, outcome(done.answer()));
            FarmMessage answer = new FarmMessage(
                    properties,
                    ResultFormat.write(
                            new FarmResult(job, digest, setup.name(), done.ranOn(), done.answer(), done.console())),
                    Manner.once(job, RESULT_KEPT));
            try {
                link.send(FarmQueues.ANSWERS, answer);
            } catch (FarmLost e) {
                unsent = Optional.of(answer);
                throw e;
            } catch (KilnException e) {
                FarmResult refused = new FarmResult(job, digest, setup.name(), done.ranOn(), new Failed(e.problems()));
                link.send(
                        FarmQueues.ANSWERS,
                        new FarmMessage(properties, ResultFormat.write(refused), Manner.once(job, RESULT_KEPT)));
            }
        }

        /** The outcome as the broker learns it. */
        private static String outcome(FarmAnswer answer) {
            List<Problem> problems = answer instanceof Failed failed
                    ? failed.problems()
                    : answer instanceof Ran ran ? ran.failure() : List.of();
            return problems.isEmpty()
                    ? "done"
                    : "failed-" + problems.get(0).family().name();
        }

        private Done done(FarmMessage message) {
            try {
                FarmJob job = JobFormat.read(message.body());
                Offer offer = offers.stream()
                        .filter(each -> each.fits(job) && job.id().equals(message.property(FarmQueues.JOB)))
                        .findFirst()
                        .orElseThrow(() -> Failure.FARM.exception(
                                "a job says something else than its message", message.property(FarmQueues.JOB)));
                current.set(Optional.of(new Current(job, System.nanoTime())));
                return runner.run(job, offer);
            } catch (KilnException e) {
                return failed(e.problems());
            } catch (RuntimeException | Error e) {
                // An image may exhaust memory or a stack. If the slot ended, its job would go on to end all others.
                log.warn(setup.name() + ": unforeseen: " + e);
                return failed(List.of(Failure.FARM.problem("the worker failed: " + e, setup.name())));
            } finally {
                current.set(Optional.empty());
            }
        }

        private Done failed(List<Problem> problems) {
            FarmAnswer answer = new Failed(problems);
            return new Done(setup.name(), answer);
        }

        private FarmFailure failure(FarmMessage message, Failed failed) {
            return new FarmFailure(
                    message.property(FarmQueues.JOB),
                    message.property(FarmQueues.BOARD),
                    message.property(FarmQueues.PLACE),
                    setup.name(),
                    Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
                    failed.problems().stream().map(Problem::text).collect(Collectors.joining(" ")));
        }

        /** Renews a lease while a board is in use. */
        private static final class LeaseRenewal implements AutoCloseable {
            private static final int PER_TERM = 3;

            private final BoardLease lease;
            private final Duration every;
            private final Thread user;
            private volatile boolean isHeld = true;
            private final Thread thread = new Thread(this::renew, "board-lease");

            private LeaseRenewal(BoardLease lease, Duration term, Thread user) {
                this.lease = lease;
                this.user = user;
                this.every = term.dividedBy(PER_TERM);
            }

            /**
             * Starts to renew a lease.
             *
             * @param user is interrupted if the lease ends while it uses the board
             */
            static LeaseRenewal start(BoardLease lease, Duration term, Thread user) {
                LeaseRenewal renewal = new LeaseRenewal(lease, term, user);
                renewal.thread.setDaemon(true);
                renewal.thread.start();
                return renewal;
            }

            private void renew() {
                try {
                    int failed = 0;
                    while (isHeld) {
                        Thread.sleep(every.toMillis());
                        failed = renewal(failed);
                    }
                } catch (InterruptedException e) {
                    isHeld = false;
                }
            }

            /** Renews once. A disk that is full for a moment costs nothing; a lease that was not renewed for its term has ended. */
            private int renewal(int failed) {
                boolean isRenewed = false;
                int failures = failed;
                try {
                    isRenewed = isHeld && lease.renew();
                    failures = isRenewed ? 0 : PER_TERM;
                } catch (KilnException e) {
                    failures++;
                }
                if (isHeld && !isRenewed && failures >= PER_TERM) {
                    isHeld = false;
                    user.interrupt();
                }
                return failures;
            }

            /** False after the lease ended. */
            boolean isHeld() {
                return isHeld;
            }

            @Override
            public void close() {
                isHeld = false;
                thread.interrupt();
            }
        }
    }
}
