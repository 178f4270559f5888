// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.client;

import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.JvmEnd;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.ParameterValue;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.job.FarmAnswer;
import io.kiln.farm.job.FarmAnswer.Counted;
import io.kiln.farm.job.FarmAnswer.Failed;
import io.kiln.farm.job.FarmAnswer.FarmResult;
import io.kiln.farm.job.FarmAnswer.Flashed;
import io.kiln.farm.job.FarmAnswer.GivenUp;
import io.kiln.farm.job.FarmAnswer.Heard;
import io.kiln.farm.job.FarmAnswer.Profiled;
import io.kiln.farm.job.FarmAnswer.Ran;
import io.kiln.farm.job.FarmAnswer.ResultFormat;
import io.kiln.farm.job.FarmAnswer.Timed;
import io.kiln.farm.job.FarmAnswer.Traced;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.FarmJob.FarmTask;
import io.kiln.farm.job.FarmJob.FarmTask.Call;
import io.kiln.farm.job.FarmJob.FarmTask.Count;
import io.kiln.farm.job.FarmJob.FarmTask.Flash;
import io.kiln.farm.job.FarmJob.FarmTask.Listen;
import io.kiln.farm.job.FarmJob.FarmTask.Profile;
import io.kiln.farm.job.FarmJob.FarmTask.Run;
import io.kiln.farm.job.FarmJob.FarmTask.Time;
import io.kiln.farm.job.FarmJob.FarmTask.Trace;
import io.kiln.farm.job.FarmJob.JobFormat;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmInbox;
import io.kiln.farm.link.FarmInbox.Received;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmLink.FarmLost;
import io.kiln.farm.link.FarmMember;
import io.kiln.farm.link.FarmMessage;
import io.kiln.farm.link.FarmMessage.FarmOrder;
import io.kiln.farm.link.FarmMessage.Manner;
import io.kiln.farm.link.FarmQueues;
import io.kiln.farm.state.FarmState.FarmQuestion;
import io.kiln.farm.state.FarmState.FarmUnit;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Sends jobs and waits for their results: each result arrives once, however often a job was run and the broker was restarted. Thread-safe.
 */
public final class FarmClient implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration NEXT = Duration.ofMillis(1);
    private static final Duration PAUSE = Duration.ofMillis(500);
    private static final int IMAGE_DIGITS = 16;
    private static final Duration SAYS_THAT_IT_WAITS = Duration.ofSeconds(15);

    /** How long it counts who is there: a search sends hundreds of jobs. */
    private static final Duration UNITS_KEPT = Duration.ofSeconds(10);

    private static final int MOST_TAKERS = 100;

    private final String id = FarmJob.newId();
    private final FarmAddress address;
    private final JobTerms terms;
    private final Log log;
    private final Map<String, Outstanding> outstanding = new ConcurrentHashMap<>();
    private final AtomicBoolean isClosed = new AtomicBoolean();
    private final AtomicBoolean hasToResend = new AtomicBoolean();

    /** Ids of jobs to send by a thread of its own: a broker whose disk is full lets senders wait, and answers come meanwhile. */
    private final BlockingQueue<String> unsent = new LinkedBlockingQueue<>();

    private final Thread resender = new Thread(this::resend, "farm-client-sender");
    private final Thread receiver = new Thread(this::receive, "farm-client");
    private final Thread hook = new Thread(this::end, "farm-client-end");
    private volatile Optional<FarmLink> sender;
    private volatile long lastAnswer = System.nanoTime();
    private volatile boolean hasSaid;
    private volatile List<FarmUnit> units = List.of();
    private volatile long asked;
    private volatile Optional<KilnException> refusal = Optional.empty();

    private record Outstanding(FarmJob job, int tries, CompletableFuture<FarmResult> result) {}

    private FarmClient(FarmAddress address, JobTerms terms, Log log) {
        this.address = address;
        this.terms = terms;
        this.log = log;
        this.sender = Optional.of(FarmLink.open(address));
    }

    /**
     * Connects to a farm.
     *
     * @param terms on which the farm gets the jobs
     * @param log hears that nobody works on the jobs
     * @throws KilnException if the broker cannot be reached, or refuses this member
     */
    public static FarmClient connect(FarmAddress address, JobTerms terms, Log log) {
        FarmClient client = new FarmClient(address, terms, log);
        client.receiver.setDaemon(true);
        client.receiver.start();
        client.resender.setDaemon(true);
        client.resender.start();
        Runtime.getRuntime().addShutdownHook(client.hook);
        return client;
    }

    /** Sends a job. Its result, or a {@link KilnException} if the farm does not answer in time. */
    public CompletableFuture<FarmResult> submit(FarmJob job) {
        FarmMessage message = message(job);
        refusal.ifPresent(why -> {
            throw new KilnException(why.problems());
        });
        if (outstanding.isEmpty()) {
            lastAnswer = System.nanoTime();
        }
        Outstanding waiting = new Outstanding(job, 1, new CompletableFuture<>());
        outstanding.put(job.id(), waiting);
        try {
            synchronized (this) {
                sender.ifPresentOrElse(link -> link.send(FarmQueues.JOBS, message), () -> unsent.add(job.id()));
            }
        } catch (FarmLost e) {
            senderLost(e);
        } catch (KilnException e) {
            outstanding.remove(job.id());
            throw e;
        }
        return waiting.result();
    }

    private synchronized void senderLost(FarmLost why) {
        log.debug(why.getMessage());
        sender.ifPresent(FarmLink::close);
        sender = Optional.empty();
        hasToResend.set(true);
    }

    /**
     * Sends jobs and waits for all results.
     *
     * @return the results in the order of the jobs
     * @throws KilnException if the farm does not answer in time
     */
    public List<FarmResult> run(List<FarmJob> jobs) {
        List<CompletableFuture<FarmResult>> results =
                jobs.stream().map(this::submit).toList();
        try {
            return results.stream().map(CompletableFuture::join).toList();
        } catch (CompletionException e) {
            if (e.getCause() instanceof KilnException cause) {
                throw new KilnException(cause.problems().get(0), e);
            }
            throw e;
        }
    }

    private FarmMessage message(FarmJob job) {
        Map<String, String> properties = new HashMap<>(Map.of(
                FarmQueues.JOB,
                job.id(),
                FarmQueues.CLIENT,
                id,
                FarmQueues.BOARD,
                job.board(),
                FarmQueues.PLACE,
                ParameterValue.text(job.place()),
                FarmQueues.KIND,
                job.task().kind(),
                FarmQueues.PROJECT,
                terms.project(),
                FarmQueues.NEEDS,
                terms.needs().text(),
                FarmQueues.VERSION,
                terms.version(),
                FarmQueues.IMAGE,
                Digests.sha256(job.image().toArray()).substring(0, IMAGE_DIGITS)));
        if (address.isForeign() && !terms.needs().values().isEmpty()) {
            properties.put(FarmQueues.TAKERS, FarmQueues.takers(takers(job)));
        }
        return new FarmMessage(
                properties,
                JobFormat.write(job),
                Manner.once(job.id(), terms.patience().plus(terms.patience())).at(terms.priority()));
    }

    /** Those that may have a job now: a broker of another make has no desk that looks at labels. */
    private List<FarmMember> takers(FarmJob job) {
        String place = ParameterValue.text(job.place());
        List<FarmMember> takers = FarmUnit.takers(units, job.board(), place, terms.needs());
        if (takers.isEmpty() || System.nanoTime() - asked > UNITS_KEPT.toNanos()) {
            units = FarmUnit.of(FarmQuestion.ask(address));
            asked = System.nanoTime();
            takers = FarmUnit.takers(units, job.board(), place, terms.needs());
        }
        if (takers.isEmpty()) {
            throw Failure.FARM.exception(
                    "no worker of the farm has " + job.board() + " (" + place + ")" + needs() + "; "
                            + FarmUnit.there(units, Set.of(place)),
                    address.url(),
                    "one that is there when the job is sent, as the broker is of another make",
                    "kiln:farm shows who is there");
        }
        return takers.subList(0, Math.min(MOST_TAKERS, takers.size()));
    }

    /** Who is there at the places where jobs wait; empty if nobody tells. */
    private String there() {
        try {
            return "; " + FarmUnit.there(FarmUnit.of(FarmQuestion.ask(address)), places(outstanding.values().stream()));
        } catch (KilnException e) {
            log.debug(e.getMessage());
            return "";
        }
    }

    private static Set<String> places(Stream<Outstanding> jobs) {
        return jobs.map(waiting -> ParameterValue.text(waiting.job().place())).collect(Collectors.toSet());
    }

    private void receive() {
        while (!isClosed.get()) {
            try (FarmLink link = FarmLink.open(address);
                    FarmInbox inbox = link.inbox(FarmQueues.ANSWERS, FarmQueues.CLIENT + " = '" + id + "'")) {
                while (!isClosed.get()) {
                    if (hasToResend.getAndSet(false)) {
                        listUnsent(link, inbox);
                    }
                    inbox.receive(POLL).ifPresent(received -> take(link, received));
                    checkPatience();
                }
                if (!outstanding.isEmpty()) {
                    withdraw(link, () -> {});
                }
            } catch (FarmLost e) {
                log.debug(e.getMessage());
                hasToResend.set(true);
                checkPatience();
                pause();
            } catch (KilnException e) {
                refusal = Optional.of(e);
                failAll(e);
                return;
            }
        }
    }

    /** Has all open jobs sent again. Kiln's own broker drops those that it has or had; from another one they are taken back before. */
    private void listUnsent(FarmLink link, FarmInbox inbox) {
        if (!link.isEmbedded()) {
            withdraw(link, () -> inbox.receive(NEXT).ifPresent(received -> take(link, received)));
        }
        unsent.clear();
        unsent.addAll(outstanding.keySet());
    }

    private void resend() {
        while (!isClosed.get()) {
            try {
                Optional<Outstanding> next = Optional.ofNullable(unsent.poll(POLL.toMillis(), TimeUnit.MILLISECONDS))
                        .map(outstanding::get);
                if (next.isPresent()) {
                    resend(next.get().job());
                }
            } catch (FarmLost e) {
                senderLost(e);
                pause();
            } catch (KilnException e) {
                refusal = Optional.of(e);
                failAll(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private synchronized void resend(FarmJob job) {
        if (sender.isEmpty()) {
            sender = Optional.of(FarmLink.open(address));
        }
        sender.get().send(FarmQueues.JOBS, message(job));
    }

    private void take(FarmLink link, Received received) {
        try {
            FarmResult result = ResultFormat.read(received.message().body());
            Optional.ofNullable(outstanding.remove(result.job()))
                    .ifPresentOrElse(
                            waiting -> take(link, waiting, result),
                            () -> refuse(link, "late, twice, or not asked for: the answer to " + result.job()));
            lastAnswer = System.nanoTime();
            hasSaid = false;
        } catch (FarmLost e) {
            throw e;
        } catch (KilnException e) {
            log.warn(e.getMessage());
            refuse(link, e.problems().get(0).what());
        }
        // The message is acknowledged only now: earlier, an acknowledgement that gets lost on its way back would lose
        // the result.
        received.done().run();
    }

    /** Has the farm count an answer of no use. */
    private void refuse(FarmLink link, String why) {
        FarmOrder.REFUSE.send(link, id, FarmQueues.ANSWERS, why);
    }

    /** Takes an answer, or has another worker run the job if it cannot be one. */
    private void take(FarmLink link, Outstanding waiting, FarmResult result) {
        Optional<String> problem = AnswerCheck.problem(waiting.job(), result);
        if (problem.isEmpty()) {
            waiting.result().complete(result);
            return;
        }
        log.warn("Refused an answer of worker " + result.worker() + " of the farm: " + problem.get());
        FarmJob old = waiting.job();
        FarmOrder.COMPLAIN.send(link, id, old.id(), problem.get());
        if (waiting.tries() >= FarmQueues.TRIES) {
            waiting.result()
                    .completeExceptionally(Failure.FARM.exception(
                            "workers of the farm gave " + waiting.tries() + " wrong answers, the last one "
                                    + result.worker() + ": " + problem.get(),
                            address.url(),
                            "an answer to what was asked",
                            "kiln:farm shows which workers are in quarantine"));
            return;
        }
        // The farm hears of it before it has to choose a worker again.
        pause();
        FarmJob again = FarmJob.of(old.board(), old.place(), old.limit(), old.image(), old.task());
        outstanding.put(again.id(), new Outstanding(again, waiting.tries() + 1, waiting.result()));
        unsent.add(again.id());
    }

    private void checkPatience() {
        if (outstanding.isEmpty()) {
            return;
        }
        Duration silence = Duration.ofNanos(System.nanoTime() - lastAnswer);
        if (silence.compareTo(terms.patience()) > 0) {
            failAll(Failure.FARM.exception(
                    "no worker of the farm answered for " + terms.patience().toSeconds() + " s" + there(),
                    address.url(),
                    "a worker with " + wanted() + needs(),
                    "Start one with kiln:worker; kiln:farm shows who is there"));
        } else if (!hasSaid && silence.compareTo(SAYS_THAT_IT_WAITS) > 0) {
            hasSaid = true;
            log.info("Waiting for a worker with " + wanted() + needs() + there());
        }
    }

    private String wanted() {
        return outstanding.values().stream()
                .map(waiting -> waiting.job().board() + " ("
                        + ParameterValue.text(waiting.job().place()) + ")")
                .distinct()
                .sorted()
                .collect(Collectors.joining(", "));
    }

    private String needs() {
        return terms.needs().values().isEmpty()
                ? ""
                : " and the labels " + terms.needs().text();
    }

    private void failAll(KilnException failure) {
        outstanding
                .keySet()
                .forEach(job -> Optional.ofNullable(outstanding.remove(job))
                        .ifPresent(waiting -> waiting.result().completeExceptionally(failure)));
    }

    /**
     * Takes back the jobs that wait at the broker.
     *
     * @param meanwhile what has to be done after each
     */
    private void withdraw(FarmLink link, Runnable meanwhile) {
        try (FarmInbox own = link.inbox(FarmQueues.JOBS, FarmQueues.CLIENT + " = '" + id + "'")) {
            Optional<Received> next = own.receive(POLL);
            while (next.isPresent()) {
                next.get().done().run();
                meanwhile.run();
                next = own.receive(POLL);
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends the connection; jobs that wait are withdrawn. So are they if the JVM ends before. */
    @Override
    public void close() {
        end();
        JvmEnd.remove(hook);
    }

    private void end() {
        isClosed.set(true);
        // Also if somebody waits in it.
        sender.ifPresent(FarmLink::close);
        try {
            receiver.join();
            resender.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        sender.ifPresent(FarmLink::close);
        failAll(Failure.FARM.exception("the connection to the farm was closed", address.url()));
    }

    /** Judges whether an answer can be one to a job: by the job's digest, and by what must be there as often as it was asked for. */
    private static final class AnswerCheck {
        private AnswerCheck() {}

        /** What is wrong with an answer; empty if it may be right. */
        static Optional<String> problem(FarmJob job, FarmResult result) {
            FarmAnswer answer = result.answer();
            if (answer instanceof GivenUp) {
                // The broker says that, and only where no worker did.
                return result.worker().isEmpty() ? Optional.empty() : Optional.of("it says that it was given up");
            }
            if (!result.digest().equals(digest(JobFormat.write(job)))) {
                return Optional.of("it is the answer to another job");
            }
            if (answer instanceof Failed failed) {
                return failed.problems().isEmpty() ? Optional.of("it failed without a reason") : Optional.empty();
            }
            return fits(job.task(), answer)
                    ? Optional.empty()
                    : Optional.of("it answers something else than was asked");
        }

        /** The digest by which a job is known. */
        static String digest(Bytes job) {
            return Digests.sha256(job.toArray());
        }

        private static boolean fits(FarmTask task, FarmAnswer answer) {
            if (task instanceof Run run) {
                return answer instanceof Ran ran && fits(run.calls(), ran);
            }
            if (task instanceof Count count) {
                return answer instanceof Counted counted
                        && are(count.functions().size(), counted.calls().size(), counted.hasFailed())
                        && counted.calls().stream().allMatch(call -> call.instructions() >= 0);
            }
            if (task instanceof Profile profile) {
                return answer instanceof Profiled profiled && fits(profile, profiled);
            }
            if (task instanceof Trace) {
                return answer instanceof Traced;
            }
            if (task instanceof Listen listen) {
                return answer instanceof Heard heard
                        && are(listen.lines(), heard.lines().size(), true)
                        && heard.lines().stream().allMatch(line -> line.startsWith(listen.prefix()));
            }
            if (task instanceof Time time) {
                return answer instanceof Timed timed
                        && timed.models().size() == time.models().size();
            }
            return task instanceof Flash && answer instanceof Flashed flashed && flashed.bytes() >= 0;
        }

        private static boolean are(int wanted, int found, boolean mayBeFewer) {
            return mayBeFewer ? found <= wanted : found == wanted;
        }

        private static boolean fits(List<Call> calls, Ran ran) {
            if (!are(calls.size(), ran.runs().size(), ran.hasFailed())) {
                return false;
            }
            for (int i = 0; i < ran.runs().size() && !ran.models().isEmpty(); i++) {
                int model = calls.get(i).model();
                List<Integer> sizes =
                        ran.runs().get(i).bytes().stream().map(Bytes::size).toList();
                if (model >= ran.models().size()
                        || !sizes.equals(ran.models().get(model).outputBytes())) {
                    return false;
                }
            }
            return true;
        }

        /** Operators run within the run, so together they have no more instructions than it. */
        private static boolean fits(Profile profile, Profiled profiled) {
            long sum = 0;
            for (long instructions : profiled.operators()) {
                if (instructions < 0 || instructions > profiled.total() - sum) {
                    return false;
                }
                sum += instructions;
            }
            return profiled.operators().size() == profile.operators().size();
        }
    }

    /**
     * The terms on which a farm gets jobs.
     *
     * @param patience longest time without any result
     * @param project that shares the farm with others
     * @param priority 0 to 9, the most urgent
     * @param needs labels of the workers that may have the jobs
     * @param version of this Kiln
     */
    public record JobTerms(Duration patience, String project, int priority, Labels needs, String version) {
        /** The priority of a goal's jobs, if the user does not say: what a developer waits for comes before a search that takes a night. */
        public static int usual(String goal) {
            return goal.equals("tune") ? 2 : 4;
        }

        public JobTerms with(Labels others) {
            return new JobTerms(patience, project, priority, others, version);
        }

        /** Most urgent priority that a job may have. */
        public static final int MOST = 9;
    }
}
