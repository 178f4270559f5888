// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.compile.ReadOptions;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.emulator.ProgramWatch;
import io.kiln.device.emulator.ProgramWatch.Kind;
import io.kiln.device.emulator.ProgramWatch.Verdict;
import io.kiln.device.fault.StackUse;
import io.kiln.device.protocol.ModelSession;
import io.kiln.device.protocol.Protocol;
import io.kiln.device.protocol.Protocol.Conversation;
import io.kiln.device.transport.CountedTransport;
import io.kiln.device.transport.SessionLimits;
import io.kiln.device.transport.Transport;
import io.kiln.farm.job.RunPlace;
import io.kiln.flow.build.FirmwareSteps;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.build.GenerateStep.AudioInput;
import io.kiln.flow.build.QuantizedFiles;
import io.kiln.flow.build.RunnableImage;
import io.kiln.flow.farm.FarmRuns;
import io.kiln.flow.resolve.ModelFiles.ModelArchives;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifyOver;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.state.Steps;
import io.kiln.flow.state.UpToDate.VerifyRecord;
import io.kiln.flow.verify.BoardProfile.ProgrammedBoard;
import io.kiln.flow.verify.BoardProfile.ProgrammedBoard.Answer;
import io.kiln.flow.verify.BoardProfile.ProgrammedBoard.Purpose;
import io.kiln.flow.verify.CompareLayersStep.OperatorReferences;
import io.kiln.flow.verify.RoundedModel.OriginalModel;
import io.kiln.flow.verify.TestCases.TestCase;
import io.kiln.flow.verify.VerificationCases.AudioCases;
import io.kiln.flow.verify.VerificationCases.Comparison;
import io.kiln.flow.verify.VerificationCases.TestVectors;
import io.kiln.ir.Function;
import io.kiln.report.VerifyReport;
import io.kiln.report.VerifyReport.Tolerance;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/** Verifies that the image computes what the model says, and writes {@code verify.json} and JUnit XML. */
public final class VerifyStep {
    private static final String CAME_AS_C = "it came as C";

    private final Log log;
    private final ResolvedBuild build;
    private final Layout layout;
    private final VerifySpec spec;
    private final DeviceSpec device;
    private final VerifyRecord record;

    public VerifyStep(Log log, ResolvedBuild build, DeviceSpec device, VerifyRecord record) {
        this.log = log;
        this.build = build;
        this.layout = build.spec().layout();
        this.spec = build.spec().verify();
        this.device = device;
        this.record = record;
    }

    /**
     * Verifies; in an emulator only if image, vectors or settings differ from those that passed last time.
     *
     * @throws KilnException if an answer is wrong; the record says so too
     */
    public void run() {
        record.about(build.board().id(), "unknown", spec.seed());
        if (spec.on() == VerifyOn.NONE) {
            record.leave();
            log.info("Verification skipped: kiln.verify.on is none");
            return;
        }
        if (spec.on() == VerifyOn.BOARD) {
            runOnBoard();
            return;
        }
        if (build.runsOn().isEmpty()) {
            record.leave();
            log.info("Verification skipped: nothing on this computer runs images of "
                    + build.board().id());
            return;
        }
        record.restore();
        if (!new Steps(log, layout).run("Verifying", fingerprint(), this::verify)) {
            record.leave();
        }
    }

    /** Verifies on the board, always, because the state of a board can change at any time. */
    private void runOnBoard() {
        List<VerificationCases> models = cases();
        if (build.spec().farm().isPresent()) {
            onTheFarm(RunPlace.BOARD, models);
        } else {
            Answer<Verification.Outcome> answer = onTheBoard(models);
            report(answer.ranOn(), answer.value());
        }
        if (isOwnProgram()) {
            new OwnProgram(log, build).leaveOut("the board holds the default application");
        }
    }

    private Fingerprint fingerprint() {
        Fingerprint now = Fingerprint.of("verify")
                .value("", build)
                .value("image", layout.image("elf"))
                .value("on a farm", build.spec().farm().isPresent())
                .value("references", OperatorReferences.files(build.spec()));
        build.spec()
                .models()
                .forEach(model -> now.value(
                        "files of " + model.name(), model.companions(reading().limits())));
        return now;
    }

    /** Runs the cases on a board of this computer; if it answers nothing, or something wrong, the outcome says so. */
    private Answer<Verification.Outcome> onTheBoard(List<VerificationCases> models) {
        Duration limit = Verification.limit(models, spec.limits());
        Protocol protocol = Protocols.of(build, limit);
        return new ProgrammedBoard(log, build, device, Purpose.VERIFICATION)
                .talk(
                        limit,
                        (line, elf, text) ->
                                Verification.run(line, new Conversation(protocol, elf, text), models, log));
    }

    private Collection<Path> onTheFarm(RunPlace place, List<VerificationCases> models) {
        FarmRuns.Answer<Verification.Outcome> answer =
                new FarmVerification(log, build, build.spec().farm().orElseThrow()).run(place, models);
        record.about(build.board().id(), answer.ranOn(), spec.seed());
        Optional<StackUse> stack =
                StackUse.of(layout.image("elf"), answer.value().stack());
        note(stack, stack.flatMap(StackUse::problem), answer.value());
        return report(answer.ranOn(), answer.value());
    }

    /** Records the deepest use of the image's stack. A failed record says that it overflowed, too. */
    private void note(Optional<StackUse> use, Optional<Problem> overflow, Verification.Outcome outcome) {
        overflow.ifPresent(outcome.wrong()::add);
        FirmwareSteps.recordStack(log, layout, use);
    }

    private Collection<Path> verify() {
        record.begin();
        List<VerificationCases> models = cases();
        if (build.spec().farm().isPresent()) {
            if (isOwnProgram()) {
                new OwnProgram(log, build).leaveOut("the farm runs the default application");
            }
            return onTheFarm(RunPlace.EMULATOR, models);
        }
        RunnableImage image = RunnableImage.withDefaultApplication(log, build);
        Emulator emulator = new Emulator(
                image.board(),
                Verification.limit(models, spec.limits()).multipliedBy(SessionLimits.share()),
                Optional.of(layout.reports().resolve("verify.log")),
                build.spec().semihosting());
        String ranOn = RunnableImage.name(build, emulator);
        record.about(build.board().id(), ranOn, spec.seed());
        Verification.Outcome outcome =
                Verification.run(emulator, image.file(), Protocols.of(build, emulator.limit()), models, log);
        Optional<OwnProgram.Result> program = isOwnProgram() ? new OwnProgram(log, build).watch() : Optional.empty();
        Verification.Outcome whole = program.map(outcome::with).orElse(outcome);
        Optional<StackUse> stack = FirmwareSteps.ofBoard(
                layout,
                image.isOther()
                        ? program.flatMap(OwnProgram.Result::stack)
                        : StackUse.of(image.file(), outcome.stack()));
        boolean isSaid = program.flatMap(OwnProgram.Result::problem).isPresent();
        note(stack, isSaid ? Optional.empty() : stack.flatMap(StackUse::problem), whole);
        return report(ranOn, whole);
    }

    private Collection<Path> report(String ranOn, Verification.Outcome outcome) {
        VerifyReport report = new VerifyReport(
                build.board().id(),
                ranOn,
                spec.seed(),
                outcome.cases(),
                outcome.bitExact(),
                outcome.wrong().isEmpty(),
                outcome.tolerance(),
                outcome.wrong().isEmpty()
                        ? ""
                        : new KilnException(outcome.wrong().list()).getMessage());
        Collection<Path> written = record.write(report, outcome.times());
        outcome.wrong().throwIfAny();
        log.info(summary(report));
        return written;
    }

    private boolean isOwnProgram() {
        return FirmwareSteps.hasOwnMain(
                new FirmwareSteps(Log.QUIET, build).objects().project());
    }

    private List<VerificationCases> cases() {
        List<ModelMetadata> metadata = GenerateStep.store(layout).metadata();
        Map<String, ModelSource> sources = build.spec().models().stream()
                .filter(source -> !ModelArchives.accepts(source.file()))
                .collect(Collectors.toMap(ModelSource::name, source -> source));
        Set<String> hearing = GenerateStep.store(layout).hearing().stream()
                .map(ModelMetadata::name)
                .collect(Collectors.toUnmodifiableSet());
        TestVectors vectors = TestVectors.of(build.spec(), metadata.size() > 1);
        List<VerificationCases> models = new ArrayList<>();
        List<VerificationCases> onAudio = new ArrayList<>();
        Problems problems = new Problems(Failure.VERIFY);
        for (ModelMetadata model : metadata) {
            Optional<ModelSource> source = Optional.ofNullable(sources.get(model.name()));
            Optional<RoundedModel> read = source.map(this::read);
            Optional<Function> function = read.map(RoundedModel::function);
            models.add(
                    read.isPresent()
                            ? VerificationCases.of(model, read.get(), vectors, problems)
                            : VerificationCases.given(model, CAME_AS_C, vectors, problems));
            if (hearing.contains(model.name())) {
                onAudio.add(onAudio(model, source, function, vectors));
            }
        }
        problems.throwIfAny();
        if (spec.over() == VerifyOver.CONSOLE) {
            models.addAll(onAudio);
        }
        if (models.stream().allMatch(m -> m.cases().isEmpty())) {
            throw Failure.VERIFY.exception(
                    "there is nothing to verify with",
                    "kiln.verify",
                    "test vectors or at least one random case",
                    "Set kiln.verify.vectors or kiln.verify.samples, or kiln.verify.on=none");
        }
        return models;
    }

    /** Cases of a model on audio, if the interpreter can run it: only that tells what a model answers to audio. */
    private VerificationCases onAudio(
            ModelMetadata model, Optional<ModelSource> source, Optional<Function> function, TestVectors vectors) {
        return source.flatMap(each -> AudioInput.of(each, model))
                .filter(preprocessing -> function.orElseThrow().opaque().isEmpty())
                .map(preprocessing -> AudioCases.of(model, function.orElseThrow(), preprocessing, vectors))
                .orElseGet(() -> AudioCases.none(model));
    }

    private RoundedModel read(ModelSource model) {
        RoundedModel read = RoundedModel.of(reading(), new QuantizedFiles(build.spec(), Log.QUIET).compiled(model));
        return OriginalModel.file(model, spec)
                .filter(file -> OriginalModel.isMissing(read.function()))
                .map(file -> OriginalModel.of(read.function(), file, reading(), model))
                .orElse(read);
    }

    private ReadOptions reading() {
        return build.spec().options(build.board()).reading();
    }

    private static String summary(VerifyReport report) {
        long outputs = report.cases().stream()
                .filter(c -> !c.isProgram())
                .mapToLong(VerifyReport.Case::outputs)
                .sum();
        long cases = report.cases().stream().filter(c -> !c.isProgram()).count();
        String verdict = report.bitExact() ? "Bit-exact" : "Within the tolerance";
        return verdict + " on " + report.ranOn() + ": " + cases + " cases, " + outputs + " outputs";
    }

    /**
     * Boots the project's own program, which cannot be verified because it does not answer the host. The default
     * application is verified instead; this checks that the program to be flashed at least runs with the runtime.
     */
    record OwnProgram(Log log, ResolvedBuild build) {
        private static final String NOT_IT =
                "Verified with the default application, not with the project's own program";

        /**
         * The result of watching the program.
         *
         * @param problem what went wrong; empty if nothing
         * @param time how long it ran
         * @param stack the deepest use of its stack, if that is known
         */
        record Result(Optional<Problem> problem, Duration time, Optional<StackUse> stack) {}

        /** Logs in one line what was not verified, where nothing boots the program. */
        void leaveOut(String why) {
            log.info(NOT_IT + ", which was not booted: " + why);
        }

        /**
         * Boots the program for the configured time, and logs in one line what was verified and what was not.
         *
         * @return the result; empty if it was skipped, or is inconclusive because the stand-in may lack the board's
         * hardware
         */
        Optional<Result> watch() {
            Duration limit = build.spec().verify().program();
            if (limit.isZero()) {
                leaveOut("kiln.verify.program is 0");
                return Optional.empty();
            }
            RunnableImage image = RunnableImage.asBuilt(Log.QUIET, build);
            Emulator emulator = new Emulator(
                    image.board(),
                    limit,
                    Optional.of(build.spec().layout().reports().resolve("program.log")),
                    build.spec().semihosting());
            long start = System.nanoTime();
            Verdict verdict = new ProgramWatch(emulator).watch(image.file());
            Duration time = Duration.ofNanos(System.nanoTime() - start);
            String where = RunnableImage.name(build, emulator);
            if (verdict.kind() == Kind.MACHINE && build.hasStandIn()) {
                log.warn(verdict.problem().orElseThrow().what() + ", on " + where
                        + ", which may lack what the program uses");
                leaveOut("its failure on the stand-in is inconclusive");
                return Optional.empty();
            }
            String how = verdict.kind() == Kind.FINE
                    ? ", which ran up to " + limit.toSeconds() + " s on " + where + " without fault or abort"
                    : ", which failed on " + where;
            log.info(NOT_IT + how);
            return Optional.of(new Result(verdict.problem(), time, verdict.stack()));
        }
    }

    /** Runs cases on an image and compares its answers with the reference. */
    static final class Verification {
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
                        + model.model().outputs().stream()
                                .mapToLong(t -> t.bytes())
                                .sum();
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
            List<String> built =
                    models.stream().map(each -> each.model().name()).toList();
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
                    String name =
                            models.size() == 1 ? input.name() : each.model().name() + "/" + input.name();
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
}
