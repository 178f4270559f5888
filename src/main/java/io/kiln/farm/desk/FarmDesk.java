// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.desk;

import io.kiln.base.KilnException;
import io.kiln.farm.desk.FarmEvent.FarmEvents;
import io.kiln.farm.desk.FarmEvent.Kind;
import io.kiln.farm.desk.Labels.WorkerLabels;
import io.kiln.farm.desk.Turns.FairShares;
import io.kiln.farm.link.FarmQueues;
import io.kiln.report.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Decides which jobs a worker may take, and judges answers: labels, fair shares between projects, boards and workers that are held. It only ever holds
 * a job back, and for fairness a worker no longer than {@link #MOST_PASSING}: the broker's queue stays the truth about what is done. Thread-safe.
 */
public final class FarmDesk {
    /** How long a worker goes without a job for the sake of another project's that does not come. */
    public static final Duration MOST_PASSING = Duration.ofSeconds(10);

    /** Families of failures that may be the board's fault rather than the image's. */
    private static final Set<String> FAULTS_OF_BOARDS = Set.of("DEVICE", "FLASH", "TOOL", "RUN", "RPC");

    private static final int MOST_GONE = 10_000;
    private static final int MOST_NAMES = 10_000;

    private final Clock clock;
    private final FarmEvents events;
    private final Holds holds;
    private final Strikes strikes = new Strikes();
    private final FairShares shares = new FairShares();
    private final Map<String, Entry> jobs = new HashMap<>();
    private final Map<Long, Set<Entry>> taken = new HashMap<>();
    private final Turns turns = new Turns(shares);
    private final Map<String, WorkerLabels> labels = new HashMap<>();
    private final Map<String, String> certificates = new HashMap<>();
    private boolean hasChanged;
    private final Map<String, Entry> gone = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Entry> eldest) {
            return size() > MOST_GONE;
        }
    };

    private static final class Entry {
        private final Ticket ticket;
        private final Wait wait;
        private Optional<Taker> taker = Optional.empty();
        private long consumer;
        private Instant since;
        private String result = "";
        private boolean isKept;

        Entry(Ticket ticket, Wait wait, Instant since) {
            this.ticket = ticket;
            this.wait = wait;
            this.since = since;
        }
    }

    /**
     * @param folder of the broker
     * @param events hears what happens
     */
    public FarmDesk(Path folder, Clock clock, FarmEvents events) {
        this.clock = clock;
        this.events = events;
        this.holds = new Holds(folder);
    }

    /**
     * Whether a member may call itself by a worker's name: with certificates, a name belongs to the one that had it first, until the broker ends.
     *
     * @param certificate whom the member's certificate names; empty if it has none
     */
    public synchronized boolean owns(String worker, String certificate) {
        if (certificate.isEmpty()) {
            return true;
        }
        if (certificates.size() >= MOST_NAMES && !certificates.containsKey(worker)) {
            return false;
        }
        return certificates.computeIfAbsent(worker, name -> certificate).equals(certificate);
    }

    /**
     * A job comes to the queue, or was found in it when the broker began.
     *
     * @return whether the queue may have it: workers would answer another one's job under its id with what cannot be right
     */
    public synchronized boolean sent(Ticket ticket) {
        Entry known = jobs.get(ticket.job());
        if (known != null) {
            boolean isTheSame = known.ticket.client().equals(ticket.client());
            if (!isTheSame) {
                tell(FarmEvent.of(Kind.NEWS_REFUSED)
                        .with("queue", FarmQueues.JOBS)
                        .with("reason", "a job under the id of somebody else's, " + ticket.job()));
            }
            return isTheSame;
        }
        shares.join(ticket.sort().project());
        Entry entry = new Entry(ticket, turns.kind(Wait.of(ticket)), clock.instant());
        jobs.put(ticket.job(), entry);
        turns.waits(entry.wait);
        return true;
    }

    /** The broker keeps a job that was sent. */
    public synchronized void kept(String job) {
        Entry entry = jobs.get(job);
        if (entry != null && !entry.isKept) {
            entry.isKept = true;
            tell(entry.ticket.event(Kind.JOB_SENT));
        }
    }

    /**
     * The broker does not: it has or had the same one, or cannot.
     *
     * @param client whose job it is
     */
    public synchronized void notKept(String job, String client) {
        Entry entry = jobs.get(job);
        if (entry != null && !entry.isKept && entry.ticket.client().equals(client)) {
            jobs.remove(job);
            shares.leave(entry.ticket.sort().project());
            turns.leaves(entry.wait);
        }
    }

    /** Whether a worker may have a job now; asked for each job that waits, whenever a worker is free. */
    public synchronized boolean mayTake(Taker taker, String job) {
        Entry entry = jobs.get(job);
        if (entry == null) {
            return true;
        }
        return turns.ask(taker, entry.wait, this::isOpen, clock.instant()) == Turns.Verdict.NOW;
    }

    /**
     * Whether a worker might take a job that was passed over since this was asked last; then it has to be offered again.
     *
     * @param idle how long a worker without a job may still be looking at those that it has not seen
     */
    public synchronized boolean hasToOffer(Duration idle) {
        boolean has = turns.hasToOffer(idle, clock.instant()) || hasChanged;
        hasChanged = false;
        return has;
    }

    /** Whether a worker is one for a kind of jobs, whoever's turn it is. */
    private boolean isOpen(Taker taker, Wait wait) {
        return taker.fits(wait.place(), wait.board())
                && !isHeld(taker)
                && labels.getOrDefault(taker.worker(), WorkerLabels.NONE).have(taker, wait.board(), wait.needs());
    }

    /** A worker that calls itself by another name is held with its certificate. */
    private boolean isHeld(Taker taker) {
        return holds.isHeld(taker)
                || holds.of(certificates.getOrDefault(taker.worker(), "")).isPresent();
    }

    /** The broker has given a job to a worker, by one of its connection's consumers. */
    public synchronized void taken(Taker taker, String job, long consumer) {
        Entry entry = jobs.get(job);
        if (entry == null || entry.taker.isPresent()) {
            return;
        }
        turns.takes(taker, entry.wait);
        double waited = seconds(entry);
        entry.taker = Optional.of(taker);
        entry.consumer = consumer;
        entry.since = clock.instant();
        taken.computeIfAbsent(consumer, each -> new LinkedHashSet<>()).add(entry);
        shares.taken(entry.ticket.sort().project());
        tell(entry.ticket
                .event(Kind.JOB_TAKEN)
                .with("worker", taker.worker())
                .with("slot", taker.slot())
                .with("waited", waited));
    }

    private double seconds(Entry entry) {
        return Math.max(0, Duration.between(entry.since, clock.instant()).toMillis()) / 1000.0;
    }

    /** A worker's connection ended, or it stopped taking jobs; those that it had wait again. */
    public synchronized void left(Taker taker, long consumer) {
        turns.ends(taker);
        for (Entry entry : Optional.ofNullable(taken.remove(consumer)).orElse(Set.of())) {
            tell(entry.ticket
                    .event(Kind.JOB_RETURNED)
                    .with("worker", taker.worker())
                    .with("seconds", seconds(entry)));
            entry.taker = Optional.empty();
            entry.since = clock.instant();
            turns.waits(entry.wait);
        }
    }

    /**
     * Judges an answer that comes to the broker.
     *
     * @param worker who sends it
     * @param job the job that it names
     * @param client for whom it says it is
     * @param result {@code done}, or {@code failed-} with the family of the failure
     * @return whether whoever waits for the job may have it
     */
    public synchronized boolean answered(String worker, String job, String client, String result) {
        Entry entry = jobs.getOrDefault(job, gone.get(job));
        String wrong = "";
        if (entry == null) {
            wrong = "nobody asked for it";
        } else if (!entry.ticket.client().equals(client)) {
            wrong = "it is for somebody else";
        } else if (!jobs.containsKey(job)) {
            // Withdrawn, expired or answered by another one meanwhile: late, but no lie.
            tell(FarmEvent.of(Kind.ANSWER_REFUSED)
                    .with("job", job)
                    .with("worker", worker)
                    .with("reason", "late"));
            return false;
        }
        if (!wrong.isEmpty()) {
            tell(FarmEvent.of(Kind.ANSWER_REFUSED)
                    .with("job", job)
                    .with("worker", worker)
                    .with("reason", wrong));
            strike(worker, job, wrong);
            return false;
        }
        entry.result = result;
        return true;
    }

    /** A job left the queue, because a worker acknowledged it or whoever sent it takes it back. */
    public synchronized void finished(String job, boolean isWithdrawn) {
        Entry entry = remove(job);
        if (entry == null) {
            return;
        }
        if (isWithdrawn || entry.taker.isEmpty()) {
            tell(entry.ticket.event(Kind.JOB_WITHDRAWN));
            return;
        }
        Taker taker = entry.taker.get();
        double seconds = seconds(entry);
        shares.done(entry.ticket.sort().project(), seconds);
        tell(entry.ticket
                .event(Kind.JOB_ANSWERED)
                .with("worker", taker.worker())
                .with("slot", taker.slot())
                .with("result", entry.result.isEmpty() ? "none" : entry.result)
                .with("seconds", seconds));
        judgeBoard(entry, taker);
    }

    private void judgeBoard(Entry entry, Taker taker) {
        if (!taker.place().equals("board") || taker.worker().isEmpty()) {
            return;
        }
        if (entry.result.equals("done")) {
            strikes.forget(taker.unit());
        } else if (entry.result.startsWith("failed-")
                && FAULTS_OF_BOARDS.contains(entry.result.substring("failed-".length()))
                && strikes.add(taker.unit(), entry.ticket.sort().image())) {
            hold(taker.unit(), true, Strikes.MOST + " different jobs failed on it");
        }
    }

    /** A job left the queue without an answer: it was too old, or has killed its workers. */
    public synchronized void dropped(String job, Kind why) {
        Entry entry = remove(job);
        if (entry != null) {
            tell(entry.ticket.event(why));
        }
    }

    private Entry remove(String job) {
        Entry entry = jobs.remove(job);
        if (entry != null) {
            gone.put(job, entry);
            shares.leave(entry.ticket.sort().project());
            if (entry.taker.isEmpty()) {
                turns.leaves(entry.wait);
            } else {
                turns.rests(entry.taker.get(), clock.instant());
                taken.computeIfPresent(
                        entry.consumer, (consumer, own) -> own.remove(entry) && own.isEmpty() ? null : own);
            }
        }
        return entry;
    }

    /**
     * Somebody says that an answer was wrong.
     *
     * @param client who says so: only whoever waited for the job may
     */
    public synchronized void complaint(String client, String job, String reason) {
        Entry entry = jobs.getOrDefault(job, gone.get(job));
        if (entry != null && entry.ticket.client().equals(client) && entry.taker.isPresent()) {
            strike(entry.taker.get().worker(), job, reason);
        }
    }

    private void strike(String worker, String job, String reason) {
        if (worker.isEmpty()) {
            return;
        }
        boolean isTooMuch = strikes.add(worker, job);
        tell(FarmEvent.of(Kind.STRIKE).with("worker", worker).with("job", job).with("reason", reason));
        if (isTooMuch) {
            hold(certificates.getOrDefault(worker, worker), true, Strikes.MOST + " wrong answers, the last: " + reason);
        }
    }

    /** What a worker says of itself: its labels, and those of its boards. */
    public synchronized void heard(String worker, WorkerLabels own) {
        if (!own.equals(labels.put(worker, own))) {
            changed();
        }
    }

    /** Jobs that were passed over may go to somebody now. */
    private void changed() {
        turns.change();
        hasChanged = true;
    }

    /** A worker is silent. */
    public synchronized void silent(String worker) {
        if (labels.remove(worker) != null) {
            changed();
        }
    }

    /**
     * Gives no more jobs to a worker or to one of its boards.
     *
     * @param unit {@code WORKER}, {@code WORKER/PROBE}, or the subject of a certificate, such as {@code CN=bench}
     */
    public synchronized void hold(String unit, boolean isQuarantine, String reason) {
        String since = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
        if (holds.add(new Hold(unit, since, isQuarantine, reason))) {
            changed();
            tell(FarmEvent.of(Kind.HELD)
                    .with("unit", unit)
                    .with("quarantine", isQuarantine)
                    .with("reason", reason)
                    .with("problem", holds.trouble()));
        }
    }

    /** Gives jobs to it again. */
    public synchronized boolean release(String unit) {
        boolean wasHeld = holds.remove(unit);
        if (wasHeld) {
            strikes.forget(unit);
            changed();
            tell(FarmEvent.of(Kind.RELEASED).with("unit", unit).with("problem", holds.trouble()));
        }
        return wasHeld;
    }

    /** Workers and boards that get no jobs. */
    public synchronized List<Hold> held() {
        return holds.all();
    }

    /** How long the oldest job has been waiting, in seconds; 0 if none is. */
    public synchronized long oldestSeconds() {
        return jobs.values().stream()
                .filter(entry -> entry.taker.isEmpty())
                .mapToLong(entry ->
                        Duration.between(entry.ticket.sent(), clock.instant()).toSeconds())
                .max()
                .orElse(0);
    }

    /** Tells that something happened. */
    public void tell(FarmEvent event) {
        events.happened(event);
    }

    /** Workers and boards that get no jobs, for maintenance or in quarantine; a file remembers them when the broker ends. */
    private static final class Holds {
        private static final String FILE = "holds.json";
        private static final int MOST = 1000;

        private final Path file;
        private final List<Hold> holds = new ArrayList<>();
        private String trouble = "";

        private record Kept(List<Hold> holds) {}

        /** @param folder of the broker; a damaged file in it holds nobody */
        Holds(Path folder) {
            this.file = folder.resolve(FILE);
            if (Files.exists(file)) {
                try {
                    holds.addAll(Json.read(file, Kept.class).holds());
                } catch (KilnException e) {
                    holds.clear();
                }
            }
        }

        boolean isHeld(Taker taker) {
            return holds.stream()
                    .anyMatch(hold ->
                            hold.unit().equals(taker.worker()) || hold.unit().equals(taker.unit()));
        }

        Optional<Hold> of(String unit) {
            return holds.stream().filter(hold -> hold.unit().equals(unit)).findFirst();
        }

        List<Hold> all() {
            return List.copyOf(holds);
        }

        /** Why the last change was not kept on the disk; empty if it was. */
        String trouble() {
            return trouble;
        }

        /** False if it is held already, or too many are. */
        boolean add(Hold hold) {
            if (of(hold.unit()).isPresent() || holds.size() >= MOST) {
                return false;
            }
            holds.add(hold);
            write();
            return true;
        }

        /** False if it was not held. */
        boolean remove(String unit) {
            boolean wasHeld = holds.removeIf(hold -> hold.unit().equals(unit));
            if (wasHeld) {
                write();
            }
            return wasHeld;
        }

        private void write() {
            holds.sort(Comparator.comparing(Hold::unit));
            try {
                Json.write(file, new Kept(List.copyOf(holds)));
                trouble = "";
            } catch (KilnException e) {
                // It counts all the same; a full disk must not keep the broker from its work.
                trouble = "not kept: " + e.getMessage();
            }
        }
    }

    /** Counts what different jobs say against a worker or a board. */
    private static final class Strikes {
        /** How many different ones are too many. */
        static final int MOST = 3;

        private static final int MOST_UNITS = 1000;

        private final Map<String, Set<String>> against = new HashMap<>();

        /**
         * Adds one.
         *
         * @param witness what counts as different: a job, or an image
         * @return whether it was one too many; then the count begins anew
         */
        boolean add(String unit, String witness) {
            if (against.size() > MOST_UNITS) {
                against.clear();
            }
            Set<String> witnesses = against.computeIfAbsent(unit, name -> new HashSet<>());
            witnesses.add(witness);
            if (witnesses.size() < MOST) {
                return false;
            }
            against.remove(unit);
            return true;
        }

        /** Forgets them, as after a success. */
        void forget(String unit) {
            against.remove(unit);
        }
    }
}
