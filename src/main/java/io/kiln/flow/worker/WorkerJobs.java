// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.worker;

import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Printable;
import io.kiln.base.Problem;
import io.kiln.base.elf.ElfFile;
import io.kiln.cycles.BlockSink;
import io.kiln.cycles.BlockSink.ExecutedBlock;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.emulator.FunctionCounter;
import io.kiln.device.emulator.FunctionCounter.Calls;
import io.kiln.device.emulator.FunctionCounter.FunctionTrace;
import io.kiln.device.emulator.InstructionCounter;
import io.kiln.device.emulator.RunCounter.InstructionCounts;
import io.kiln.device.flash.FlashProgress;
import io.kiln.device.flash.FlashRunner;
import io.kiln.device.flash.FlashRunner.FlashResult;
import io.kiln.device.lease.Lease;
import io.kiln.device.protocol.ConsoleProtocol;
import io.kiln.device.protocol.ModelSession;
import io.kiln.device.protocol.Protocol.Conversation;
import io.kiln.device.transport.SessionLimits;
import io.kiln.device.transport.Transport;
import io.kiln.farm.desk.FarmEvent;
import io.kiln.farm.desk.FarmEvent.FarmEvents;
import io.kiln.farm.desk.FarmEvent.Kind;
import io.kiln.farm.job.FarmAnswer;
import io.kiln.farm.job.FarmAnswer.Call;
import io.kiln.farm.job.FarmAnswer.Counted;
import io.kiln.farm.job.FarmAnswer.Failed;
import io.kiln.farm.job.FarmAnswer.FarmResult;
import io.kiln.farm.job.FarmAnswer.Flashed;
import io.kiln.farm.job.FarmAnswer.Heard;
import io.kiln.farm.job.FarmAnswer.Held;
import io.kiln.farm.job.FarmAnswer.Outputs;
import io.kiln.farm.job.FarmAnswer.Profiled;
import io.kiln.farm.job.FarmAnswer.Ran;
import io.kiln.farm.job.FarmAnswer.Timed;
import io.kiln.farm.job.FarmAnswer.Traced;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.FarmJob.FarmTask;
import io.kiln.farm.job.FarmJob.FarmTask.Count;
import io.kiln.farm.job.FarmJob.FarmTask.Flash;
import io.kiln.farm.job.FarmJob.FarmTask.Listen;
import io.kiln.farm.job.FarmJob.FarmTask.Profile;
import io.kiln.farm.job.FarmJob.FarmTask.Run;
import io.kiln.farm.job.FarmJob.FarmTask.Time;
import io.kiln.farm.job.FarmJob.FarmTask.Trace;
import io.kiln.farm.job.RunPlace;
import io.kiln.farm.state.BoardHistory;
import io.kiln.farm.worker.WorkerSetup.JobRunner;
import io.kiln.farm.worker.WorkerSetup.Offer;
import io.kiln.flow.device.BoardImage;
import io.kiln.flow.device.FlashRunners;
import io.kiln.flow.device.Leases;
import io.kiln.flow.device.Leases.BoardUse;
import io.kiln.flow.device.MonitorStep.NumberedLines;
import io.kiln.flow.device.TimedRuns;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.DeviceSpec.ConsoleSpec;
import io.kiln.flow.spec.DeviceSpec.FlashSpec;
import io.kiln.flow.spec.DeviceSpec.FlashSpec.Content;
import io.kiln.flow.spec.DeviceSpec.FlashSpec.Journal;
import io.kiln.flow.spec.DeviceSpec.FlashSpec.Tool;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.report.Json;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Runs jobs with this computer's descriptions of boards.
 *
 * @param boards the descriptions
 * @param openOcd name or path of OpenOCD
 * @param folder for what boards need, a folder for each
 * @param power switches the power of boards that fail; empty if nothing does
 * @param events hears of that
 */
record WorkerJobs(Boards boards, String openOcd, Path folder, Optional<PowerSwitch> power, FarmEvents events)
        implements JobRunner {
    private static final int DIGITS = 16;
    private static final BoardHistories HISTORIES = new BoardHistories(Clock.systemUTC());

    /** Families of failures that a board without power would have, too. */
    private static final Set<Failure> OF_BOARDS = Set.of(Failure.DEVICE, Failure.FLASH, Failure.RUN, Failure.RPC);

    @Override
    public Done run(FarmJob job, Offer offer) {
        try {
            Path image = Files.createTempFile("kiln-job", ".elf");
            try {
                // Temporary files are private, and stay so.
                Files.write(image, job.image().toArray());
                ElfFile.read(image);
                return run(job, offer, image);
            } finally {
                Files.deleteIfExists(image);
            }
        } catch (IOException e) {
            throw FileFailure.of("cannot keep an image in", Path.of(System.getProperty("java.io.tmpdir", "")), e);
        }
    }

    private Done run(FarmJob job, Offer offer, Path image) {
        if (offer.place() == RunPlace.EMULATOR) {
            return new EmulatorJobs(boards.find(offer.board()), job, image).run();
        }
        Path own = folder(offer);
        BoardJobs jobs =
                new BoardJobs(boards.find(offer.board()), offer.probe().orElseThrow(), openOcd, own, job, image);
        Done first = jobs.run();
        boolean isCycled = power.isPresent() && isDead(first.answer());
        Done done = isCycled ? again(job, offer, jobs, first) : first;
        String digest = Digests.sha256(job.image().toArray());
        String failure =
                problems(done.answer()).stream().map(Problem::what).findFirst().orElse("");
        HISTORIES.change(
                own,
                offer,
                history -> history.with(HISTORIES.now(), digest, failure, jobs.flashes(), isCycled ? 1 : 0));
        return done;
    }

    /** Cycles the power once, and tries the job once more. The result says so, whatever comes of it. */
    private Done again(FarmJob job, Offer offer, BoardJobs jobs, Done first) {
        String what = power.orElseThrow().cycle(offer);
        events.happened(FarmEvent.of(Kind.POWER_CYCLED)
                .with("job", job.id())
                .with("board", offer.board())
                .with("probe", offer.probe().orElse(""))
                .with("reason", problems(first.answer()).get(0).what())
                .with("result", what));
        Done second = jobs.run();
        FarmAnswer answer = second.answer();
        if (answer instanceof Failed failed) {
            answer = new Failed(noted(failed.problems(), what));
        } else if (answer instanceof Ran ran && !ran.failure().isEmpty()) {
            answer = new Ran(ran.models(), ran.runs(), noted(ran.failure(), what), ran.stack());
        }
        return new Done(
                second.ranOn() + ", " + what,
                answer,
                joined(List.of(first.console(), Bytes.ofText("\n[" + what + "]\n"), second.console())));
    }

    private static Bytes joined(List<Bytes> parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        parts.forEach(part -> all.writeBytes(part.toArray()));
        return Bytes.wrap(all.toByteArray());
    }

    private static List<Problem> noted(List<Problem> problems, String what) {
        List<Problem> noted = new ArrayList<>(problems);
        Problem one = noted.get(0);
        noted.set(0, new Problem(one.family(), one.what() + "; " + what, one.where(), one.expected(), one.next()));
        return noted;
    }

    private static List<Problem> problems(FarmAnswer answer) {
        return answer instanceof Failed failed
                ? failed.problems()
                : answer instanceof Ran ran ? ran.failure() : List.of();
    }

    /** Whether a board could not be flashed, or did not say a word that was asked for. */
    private static boolean isDead(FarmAnswer answer) {
        boolean hasSpoken = answer instanceof Ran ran && !ran.models().isEmpty();
        return !hasSpoken
                && problems(answer).stream()
                        .findFirst()
                        .filter(problem -> OF_BOARDS.contains(problem.family()))
                        .isPresent();
    }

    private Path folder(Offer offer) {
        String name = offer.board() + " " + offer.probe().orElse("");
        return folder.resolve(
                Digests.sha256(name.getBytes(StandardCharsets.UTF_8)).substring(0, DIGITS));
    }

    @Override
    public Optional<BoardHistory> history(Offer offer) {
        return offer.probe().map(probe -> HISTORIES.read(folder(offer), offer));
    }

    /**
     * Histories of boards, a file each, which outlive the worker.
     *
     * @param clock of this computer
     */
    record BoardHistories(Clock clock) {
        private static final String FILE = "history.json";

        String now() {
            return clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
        }

        /** The history of a board in its folder; a damaged one begins anew. */
        BoardHistory read(Path folder, Offer offer) {
            Path file = folder.resolve(FILE);
            try {
                if (Files.isRegularFile(file)) {
                    return Json.read(file, BoardHistory.class);
                }
            } catch (KilnException e) {
                // Of an earlier version, or cut short by a full disk: what the board does from now on matters more.
            }
            return BoardHistory.begin(offer.board(), offer.probe().orElse(""), now());
        }

        /** Adds to a history. A disk on which it cannot be written costs the job nothing. */
        void change(Path folder, Offer offer, UnaryOperator<BoardHistory> change) {
            try {
                Json.write(folder.resolve(FILE), change.apply(read(folder, offer)));
            } catch (KilnException e) {
                return;
            }
        }
    }

    /** Flashes images of jobs to a board of this computer, and talks to them. */
    private static final class BoardJobs {
        private final BoardUse use;
        private final DeviceSpec device;
        private final FarmJob job;
        private final Path image;
        private final Path console;
        private int flashes;

        /**
         * @param board this computer's description of it
         * @param probe its probe
         * @param openOcd name or path of OpenOCD
         * @param folder for this board's scripts and logs, and for the flash content of a virtual one
         * @param image the job's image as a file
         */
        BoardJobs(Board board, String probe, String openOcd, Path folder, FarmJob job, Path image) {
            this.use = new BoardUse(board.fenced(), new Layout(folder, folder, "job"), false, Optional.empty());
            FlashSpec flash = new FlashSpec(
                    Optional.of(probe),
                    new Tool(openOcd, job.limit()),
                    Content.WHOLE,
                    new Journal(Optional.empty(), Optional.empty()),
                    Optional.empty(),
                    false,
                    false);
            this.device = new DeviceSpec(flash, true, ConsoleSpec.OF_BOARD);
            this.job = job;
            this.image = image;
            this.console = folder.resolve("console.log");
        }

        /** How often the flash was written. */
        int flashes() {
            return flashes;
        }

        /** Runs the job; one that fails has an outcome, too, with what the board printed. */
        Done run() {
            try {
                Files.deleteIfExists(console);
                Done done = tried();
                return new Done(done.ranOn(), done.answer(), printed());
            } catch (KilnException e) {
                return new Done(use.board().id(), new Failed(e.problems()), printed());
            } catch (IOException e) {
                throw FileFailure.of("cannot write", console, e);
            }
        }

        /** The end of what the board printed. */
        private Bytes printed() {
            try (SeekableByteChannel file = Files.newByteChannel(console)) {
                file.position(Math.max(0, file.size() - FarmResult.MOST_CONSOLE));
                return Bytes.wrap(Channels.newInputStream(file).readNBytes(FarmResult.MOST_CONSOLE));
            } catch (IOException e) {
                // It printed nothing, or was not started.
                return Bytes.wrap(new byte[0]);
            }
        }

        private Done tried() {
            if (job.task() instanceof Flash) {
                try (FlashRunner runner = new FlashRunners(Log.QUIET, use, device.flash()).open()) {
                    FlashResult result = flash(runner);
                    Flashed flashed = new Flashed(
                            runner.tool(),
                            result.probe().text(),
                            result.bytes(),
                            result.unchanged(),
                            result.elapsed().toMillis());
                    return new Done(
                            use.board().id() + ", probe " + result.probe().text(), flashed);
                }
            }
            if (job.task() instanceof Run run) {
                return run(run);
            }
            if (job.task() instanceof Listen listen) {
                return talk((line, log) -> {
                    NumberedLines.Heard heard =
                            NumberedLines.read(line, job.limit(), listen.prefix(), listen.lines(), log);
                    return new Heard(heard.lines(), heard.isTimeOver());
                });
            }
            if (job.task() instanceof Time time) {
                return talk((line, log) -> new Timed(
                        new TimedRuns(time.models(), job.limit(), SessionLimits.USUAL).over(line, image, log)));
            }
            throw Failure.FARM.exception(
                    "a board does not count instructions", use.board().id(), "a worker with an emulator");
        }

        private Done run(Run run) {
            return talk((line, log) -> new RunCalls(run.calls())
                    .over(line, new Conversation(new ConsoleProtocol(job.limit()), image, log)));
        }

        /** The exchange with the program. */
        @FunctionalInterface
        private interface Talk {
            FarmAnswer over(Transport line, Consumer<String> log);
        }

        private Done talk(Talk talk) {
            try (Lease lease = new Leases(use, device, job.limit(), console).take();
                    Transport line = lease.start(() -> bring(lease))) {
                FarmAnswer answer = talk.over(line, lease.log());
                return new Done(lease.name(Optional.empty()), answer);
            }
        }

        private void bring(Lease lease) {
            try (FlashRunner runner = lease.flashRunner()) {
                flash(runner);
            }
        }

        private FlashResult flash(FlashRunner runner) {
            FlashResult result =
                    runner.flash(runner.probes().get(0), BoardImage.read(use.board(), image), FlashProgress.QUIET);
            result.failure().ifPresent(failure -> {
                throw failure.exception(result.probe().text());
            });
            flashes += result.unchanged() ? 0 : 1;
            return result;
        }
    }

    /** Runs images of jobs in an emulator. Jobs come from strangers, so they get no semihosting and no network. */
    private static final class EmulatorJobs {
        private final Emulator emulator;
        private final FarmJob job;
        private final Path image;

        /**
         * @param board this computer's description of the job's board, which QEMU emulates
         * @param image the job's image as a file
         */
        EmulatorJobs(Board board, FarmJob job, Path image) {
            this.emulator = Emulator.of(board.fenced(), job.limit());
            this.job = job;
            this.image = image;
        }

        Done run() {
            return new Done(emulator.name(), answer());
        }

        private FarmAnswer answer() {
            if (job.task() instanceof Run run) {
                RunCalls calls = new RunCalls(run.calls());
                try (Transport line = emulator.boot(image)) {
                    return calls.over(line, new Conversation(new ConsoleProtocol(job.limit()), image, text -> {}));
                }
            }
            if (job.task() instanceof Count count) {
                return count(count);
            }
            if (job.task() instanceof Profile profile) {
                return profile(profile);
            }
            if (job.task() instanceof Trace trace) {
                return new Traced(new FunctionTrace(emulator)
                        .blocks(image, trace.functions(), trace.instructions(), trace.end(), BlockSink.NONE));
            }
            if (job.task() instanceof Flash) {
                throw Failure.FARM.exception("an emulator cannot be flashed", job.board(), "a board");
            }
            throw Failure.FARM.exception("an emulator does not measure time", job.board(), "a worker with a board");
        }

        private Counted count(Count count) {
            Calls calls = new FunctionCounter(emulator).count(image, count.functions(), count.told());
            return new Counted(
                    calls.counted().stream()
                            .map(one -> new Call(one.instructions(), one.verdict()))
                            .toList(),
                    calls.failure().map(Throwable::getMessage));
        }

        private Profiled profile(Profile profile) {
            InstructionCounter counter = new InstructionCounter(emulator, new ConsoleProtocol(job.limit()));
            InstructionCounts counts = counter.count(image, profile.model(), profile.operators(), profile.inputs());
            List<ExecutedBlock> blocks = profile.withBlocks()
                    ? counter.blocks(image, profile.model(), profile.operators(), profile.inputs(), counts)
                    : List.of();
            List<Long> operators = profile.operators().stream()
                    .map(name ->
                            Optional.ofNullable(counts.operators().get(name)).orElse(0L))
                    .toList();
            return new Profiled(counts.total(), operators, counts.outputs(), blocks, counts.stackUsed());
        }
    }

    /** Makes a job's calls one after another, and keeps the answers if one of them fails. */
    static final class RunCalls {
        private final List<FarmTask.Call> calls;
        private final List<Held> models = new ArrayList<>();
        private final List<Outputs> runs = new ArrayList<>();

        RunCalls(List<FarmTask.Call> calls) {
            this.calls = calls;
        }

        Ran over(Transport line, Conversation conversation) {
            try {
                ModelSession ended = conversation.over(line, session -> {
                    all(session);
                    return session;
                });
                return new Ran(models, runs, List.of(), ended.stackUsed());
            } catch (KilnException e) {
                return new Ran(models, runs, e.problems(), OptionalLong.empty());
            }
        }

        private void all(ModelSession session) {
            List<ModelSession.Model> held = session.models();
            held.forEach(model -> models.add(new Held(model.name(), model.inputBytes(), model.outputBytes())));
            for (FarmTask.Call call : calls) {
                if (call.model() >= held.size()) {
                    throw Failure.FARM.exception(
                            "the image has no model " + call.model(), "console", "one of " + held.size() + " models");
                }
                runs.add(new Outputs(session.run(call.model(), held.get(call.model()), call.inputs())));
            }
        }
    }

    /**
     * Switches the power of boards off and on by a command of the worker's owner. Jobs have no part in it.
     *
     * @param words the command without a shell; <code>{board}</code> and <code>{probe}</code> in them stand for the board's id and its probe
     * @param limit after which the command is stopped
     */
    record PowerSwitch(List<String> words, Duration limit) {
        private static final Duration USUAL = Duration.ofSeconds(60);

        /** @param line the command, its words separated by spaces */
        static PowerSwitch of(String line) {
            return new PowerSwitch(
                    Stream.of(line.strip().split("\\s+", -1))
                            .filter(word -> !word.isEmpty())
                            .toList(),
                    USUAL);
        }

        /** Runs the command, and returns when the board has power again. What came of it, for people. */
        String cycle(Offer board) {
            List<String> line = words.stream()
                    .map(word -> word.replace("{board}", board.board())
                            .replace("{probe}", board.probe().orElse("")))
                    .toList();
            try {
                ProcessResult result = ProcessRunner.run(Command.ofLine(line).within(limit));
                if (result.timedOut()) {
                    return "its power could not be cycled: `" + line.get(0) + "` did not end within "
                            + limit.toSeconds() + " s";
                }
                if (result.exitCode() != 0) {
                    String said = result.errors().lines().findFirst().orElse("");
                    return Printable.line("its power could not be cycled: `" + line.get(0) + "` ended with "
                            + result.exitCode() + (said.isEmpty() ? "" : ": " + said));
                }
                return "its power was cycled";
            } catch (KilnException e) {
                return "its power could not be cycled: " + e.problems().get(0).what();
            }
        }
    }
}
