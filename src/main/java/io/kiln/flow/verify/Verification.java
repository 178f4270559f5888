// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problems;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.protocol.Conversation;
import io.kiln.device.protocol.ModelSession;
import io.kiln.device.protocol.Protocol;
import io.kiln.device.transport.CountedTransport;
import io.kiln.device.transport.SessionLimits;
import io.kiln.device.transport.Transport;
import io.kiln.flow.verify.TestCases.TestCase;
import io.kiln.report.VerifyReport;
import io.kiln.report.VerifyReport.Tolerance;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/** Runs cases on an image and compares its answers with the reference. */
final class Verification {
    /** Slowest console that is waited for, in bytes per second; QEMU's are two to seven times as fast. */
    private static final long CONSOLE_BYTES_PER_SECOND = 3000;

    private static final Duration TO_BOOT = Duration.ofSeconds(60);
    private static final Duration TO_RUN = Duration.ofSeconds(20);

    private final Problems wrong = new Problems(Failure.VERIFY);
    private final List<VerifyReport.Case> results = new ArrayList<>();
    private final List<Duration> times = new ArrayList<>();
    private final AtomicInteger done = new AtomicInteger();
    private boolean bitExact = true;
    private OptionalLong stack = OptionalLong.empty();

    /**
     * The result of an image.
     *
     * @param cases every case compared
     * @param times how long each case took
     * @param bitExact whether all bytes were equal
     * @param wrong what differed, or why not all cases were compared, for people
     * @param tolerance what was allowed
     * @param stack the deepest use of the program's stack in bytes, if it was asked to end and said so
     */
    record Outcome(
            List<VerifyReport.Case> cases,
            List<Duration> times,
            boolean bitExact,
            Problems wrong,
            Tolerance tolerance,
            OptionalLong stack) {
        /** A copy of an image that is not the build's, so that nothing is known of the build's stack. */
        Outcome withoutStack() {
            return new Outcome(cases, times, bitExact, wrong, tolerance, OptionalLong.empty());
        }

        Outcome with(OwnProgram.Result program) {
            List<VerifyReport.Case> all = new ArrayList<>(cases);
            all.add(VerifyReport.Case.ofProgram(program.problem().isEmpty()));
            List<Duration> allTimes = new ArrayList<>(times);
            allTimes.add(program.time());
            Problems allWrong = new Problems(Failure.VERIFY);
            wrong.list().forEach(allWrong::add);
            program.problem().ifPresent(allWrong::add);
            return new Outcome(all, allTimes, bitExact, allWrong, tolerance, stack);
        }
    }

    /**
     * Longest time that these cases may take.
     *
     * @param set what a user gives the image for its start and for each answer; where that is less than usual, the image ends earlier by itself
     */
    static Duration limit(List<VerificationCases> models, SessionLimits set) {
        Duration limit = longer(TO_BOOT, set.start());
        for (VerificationCases model : models) {
            long bytes = model.model().inputs().stream()
                            .mapToLong(t -> t.bytes())
                            .sum()
                    + model.model().outputs().stream().mapToLong(t -> t.bytes()).sum();
            Duration one = TO_RUN.plusSeconds(bytes / CONSOLE_BYTES_PER_SECOND);
            limit = limit.plus(
                    longer(one, set.answer()).multipliedBy(model.cases().size()));
        }
        return limit;
    }

    private static Duration longer(Duration usual, Optional<Duration> set) {
        return set.filter(time -> time.compareTo(usual) > 0).orElse(usual);
    }

    /**
     * Boots the image and runs every case of every model. If the image or the emulator fails, the outcome has the
     * reason and the cases compared so far.
     *
     * @param image with an application that answers, linked for what the emulator runs
     * @param protocol what the application speaks
     * @param log hears how far it is
     */
    static Outcome run(Emulator emulator, Path image, Protocol protocol, List<VerificationCases> models, Log log) {
        Verification verification = new Verification();
        try (Transport line = emulator.boot(image)) {
            verification.talk(line, new Conversation(protocol, image, text -> {}), models, log);
        } catch (KilnException e) {
            verification.failed(e);
        }
        return verification.outcome(models);
    }

    /**
     * Runs every case of every model on a running program. If it fails, the outcome has the reason and the cases
     * compared so far.
     *
     * @param line connection to the program; the caller closes it
     * @param conversation the program's protocol, and the receiver of its output
     * @param log hears how far it is
     */
    static Outcome run(Transport line, Conversation conversation, List<VerificationCases> models, Log log) {
        Verification verification = new Verification();
        try {
            verification.talk(line, conversation, models, log);
        } catch (KilnException e) {
            verification.failed(e);
        }
        return verification.outcome(models);
    }

    /** Runs every case of every model on a session that exists already. */
    static Outcome run(ModelSession session, List<VerificationCases> models) {
        Verification verification = new Verification();
        try {
            verification.all(session, models);
            verification.stack = session.stackUsed();
        } catch (KilnException e) {
            verification.failed(e);
        }
        return verification.outcome(models);
    }

    private void talk(Transport line, Conversation conversation, List<VerificationCases> models, Log log) {
        CountedTransport counted = new CountedTransport(line);
        int all = models.stream().mapToInt(model -> model.cases().size()).sum();
        VerifyProgress progress = new VerifyProgress(log, VerifyProgress.USUAL, all, done::get, counted::bytes);
        try {
            ModelSession ended = conversation.over(counted, session -> {
                all(session, models);
                return session;
            });
            stack = ended.stackUsed();
        } finally {
            progress.close();
        }
    }

    private void failed(KilnException failure) {
        failure.problems().forEach(wrong::add);
        bitExact = false;
    }

    private Outcome outcome(List<VerificationCases> models) {
        boolean anyFloat =
                models.stream().anyMatch(m -> TestCases.anyFloat(m.model().outputs()));
        return new Outcome(results, times, bitExact, wrong, anyFloat ? Tolerance.FLOAT : Tolerance.NONE, stack);
    }

    private void all(ModelSession session, List<VerificationCases> models) {
        List<ModelSession.Model> inImage = session.models();
        List<String> held = inImage.stream().map(ModelSession.Model::name).toList();
        List<String> built = models.stream().map(each -> each.model().name()).toList();
        if (!held.equals(built)) {
            throw Failure.VERIFY.exception(
                    "the image that runs has the models " + held,
                    "console",
                    "" + built,
                    "Flash the image that was built");
        }
        for (int m = 0; m < models.size(); m++) {
            VerificationCases each = models.get(m);
            for (int c = 0; c < each.cases().size(); c++) {
                TestCase input = each.cases().get(c);
                long start = System.nanoTime();
                List<Bytes> answer = session.run(m, inImage.get(m), input.inputs());
                done.incrementAndGet();
                times.add(Duration.ofNanos(System.nanoTime() - start));
                String name = models.size() == 1 ? input.name() : each.model().name() + "/" + input.name();
                compare(name, each.model(), answer, each.expected().get(c));
            }
        }
    }

    private void compare(String name, ModelMetadata model, List<Bytes> answer, List<Bytes> expected) {
        Comparison comparison = Comparison.of(model.outputs(), answer, expected);
        results.add(new VerifyReport.Case(
                name, comparison.outputs(), comparison.mismatches(), comparison.maxAbsDiff(), comparison.first()));
        bitExact &= comparison.bitExact();
        if (comparison.mismatches() > 0) {
            wrong.add(
                    comparison.mismatches() + " of " + comparison.outputs() + " outputs differ from the reference",
                    name,
                    "",
                    "First " + comparison.first());
        }
    }

    /** Says every few seconds how far a verification is: over a slow line it takes minutes. */
    static final class VerifyProgress implements AutoCloseable {
        /** Time between two lines. */
        static final Duration USUAL = Duration.ofSeconds(5);

        private final ScheduledThreadPoolExecutor ticks = new ScheduledThreadPoolExecutor(1, work -> {
            Thread thread = new Thread(work, "verify-progress");
            thread.setDaemon(true);
            return thread;
        });

        /**
         * Begins.
         *
         * @param all number of cases
         * @param done how many of them have their answers
         * @param bytes on the line so far, both ways
         */
        VerifyProgress(Log log, Duration every, int all, IntSupplier done, LongSupplier bytes) {
            ScheduledFuture<?> unused = ticks.scheduleAtFixedRate(
                    () -> log.info(String.format(
                            Locale.ROOT,
                            "%d of %d cases have their answers, %,d bytes went over the line",
                            done.getAsInt(),
                            all,
                            bytes.getAsLong())),
                    every.toMillis(),
                    every.toMillis(),
                    TimeUnit.MILLISECONDS);
        }

        @Override
        public void close() {
            ticks.shutdownNow();
        }
    }
}
