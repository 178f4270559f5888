// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.farm;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Printable;
import io.kiln.base.WholeFiles;
import io.kiln.cycles.BlockSink;
import io.kiln.cycles.BlockSink.ExecutedBlock;
import io.kiln.device.emulator.FunctionCounter.Calls;
import io.kiln.device.emulator.FunctionCounter.CallsCounter;
import io.kiln.device.emulator.FunctionCounter.Counted;
import io.kiln.device.emulator.RunCounter;
import io.kiln.device.emulator.RunCounter.InstructionCounts;
import io.kiln.device.flash.FlashProgress;
import io.kiln.device.flash.FlashRunner;
import io.kiln.device.flash.FlashRunner.FlashImage;
import io.kiln.device.flash.FlashRunner.FlashResult;
import io.kiln.device.flash.Probe;
import io.kiln.device.protocol.ModelSession;
import io.kiln.device.rpc.client.TimedModel;
import io.kiln.farm.client.FarmClient;
import io.kiln.farm.job.FarmAnswer;
import io.kiln.farm.job.FarmAnswer.Failed;
import io.kiln.farm.job.FarmAnswer.FarmResult;
import io.kiln.farm.job.FarmAnswer.Flashed;
import io.kiln.farm.job.FarmAnswer.GivenUp;
import io.kiln.farm.job.FarmAnswer.Outputs;
import io.kiln.farm.job.FarmAnswer.Profiled;
import io.kiln.farm.job.FarmAnswer.Ran;
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
import io.kiln.farm.job.RunPlace;
import io.kiln.flow.spec.FarmUse;
import io.kiln.toolchain.board.Board;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/** The jobs that a build gives to a farm. Thread-safe. */
public final class FarmRuns implements AutoCloseable {
    private final FarmClient client;
    private final Log log;
    private final Optional<Path> console;

    private FarmRuns(FarmClient client, Log log, Optional<Path> console) {
        this.client = client;
        this.log = log;
        this.console = console;
    }

    /**
     * Connects to a farm.
     *
     * @throws KilnException if its broker cannot be reached, or refuses the build
     */
    public static FarmRuns open(FarmUse use, Log log) {
        return new FarmRuns(FarmClient.connect(use.address(), use.terms(), log), log, Optional.empty());
    }

    /** The same; what a board prints is written into a file, whether it succeeds or not. */
    public static FarmRuns open(FarmUse use, Log log, Path console) {
        return new FarmRuns(FarmClient.connect(use.address(), use.terms(), log), log, Optional.of(console));
    }

    /** A worker may send anything: no character of it acts on a terminal or looks like another one. */
    private void keep(FarmResult result) {
        console.filter(file -> result.console().size() > 0).ifPresent(file -> {
            WholeFiles.write(
                    file,
                    new String(result.console().toArray(), StandardCharsets.UTF_8)
                            .lines()
                            .map(Printable::line)
                            .collect(Collectors.joining("\n", "", "\n")));
            log.info("What the board printed: " + file);
        });
    }

    /**
     * What a farm answered.
     *
     * @param ranOn what ran the image, and where
     * @param value the answer
     */
    public record Answer<T>(String ranOn, T value) {}

    /**
     * Runs models of an image with the default application.
     *
     * @param board what the image is linked for
     * @param limit for all runs
     * @return the models and their answers; if the image failed, those before it failed
     */
    public Answer<AnsweredSession> run(Board board, RunPlace place, Duration limit, Path image, List<Call> calls) {
        Answer<FarmAnswer.Ran> ran = answer(board, place, limit, image, new Run(calls), FarmAnswer.Ran.class);
        return new Answer<>(ran.ranOn(), new AnsweredSession(ran.value()));
    }

    /** Flashes one board of the farm. */
    public Answer<FarmAnswer.Flashed> flash(Board board, Duration limit, Path image) {
        return answer(board, RunPlace.BOARD, limit, image, new Flash(), FarmAnswer.Flashed.class);
    }

    /**
     * Flashes a board, and reads the numbered lines that its program prints.
     *
     * @param limit for all of them
     * @param prefix word that the lines begin with
     * @param lines how many are awaited
     */
    public FarmAnswer.Heard listen(Board board, Duration limit, Path image, String prefix, int lines) {
        Listen task = new Listen(prefix, lines);
        return answer(board, RunPlace.BOARD, limit, image, task, FarmAnswer.Heard.class)
                .value();
    }

    /** Flashes an image with the RPC server to a board, and measures runs of its models by the board's timer. */
    public Answer<FarmAnswer.Timed> time(Board board, Duration limit, Path image, List<TimedModel> models) {
        return answer(board, RunPlace.BOARD, limit, image, new Time(models), FarmAnswer.Timed.class);
    }

    /**
     * Counts on a worker's emulator of a board.
     *
     * @param limit for each run
     */
    public CallsCounter calls(Board board, Duration limit) {
        return new CallsCounter() {
            @Override
            public Calls count(Path image, List<String> functions, String told) {
                FarmAnswer.Counted counted = answer(
                                board,
                                RunPlace.EMULATOR,
                                limit,
                                image,
                                new Count(functions, told),
                                FarmAnswer.Counted.class)
                        .value();
                return new Calls(
                        counted.calls().stream()
                                .map(call -> new Counted(call.instructions(), call.verdict()))
                                .toList(),
                        counted.failure().map(text -> Failure.FARM.exception(text, "")));
            }

            @Override
            public List<ExecutedBlock> blocks(
                    Path image, List<String> functions, List<Long> instructions, String end, BlockSink sink) {
                Trace task = new Trace(functions, instructions, end);
                return answer(board, RunPlace.EMULATOR, limit, image, task, FarmAnswer.Traced.class)
                        .value()
                        .blocks();
            }

            @Override
            public boolean hasOrder() {
                return false;
            }
        };
    }

    /** Counts whole runs of models, on a worker's emulator of a board. */
    public RunCounter runs(Board board, Duration limit) {
        return new RunCounter() {
            @Override
            public InstructionCounts count(Path image, String model, List<String> operators, List<Bytes> inputs) {
                Profiled profiled = profiled(image, new Profile(model, operators, inputs, false));
                Map<String, Long> counts = new LinkedHashMap<>();
                for (int i = 0;
                        i < Math.min(operators.size(), profiled.operators().size());
                        i++) {
                    counts.put(operators.get(i), profiled.operators().get(i));
                }
                return new InstructionCounts(profiled.total(), counts, profiled.outputs(), profiled.stack());
            }

            @Override
            public List<ExecutedBlock> blocks(
                    Path image,
                    String model,
                    List<String> operators,
                    List<Bytes> inputs,
                    InstructionCounts counts,
                    BlockSink sink) {
                return profiled(image, new Profile(model, operators, inputs, true))
                        .blocks();
            }

            /** A worker's answer has the counts alone. */
            @Override
            public boolean hasOrder() {
                return false;
            }

            private Profiled profiled(Path image, Profile task) {
                return answer(board, RunPlace.EMULATOR, limit, image, task, Profiled.class)
                        .value();
            }
        };
    }

    private <T extends FarmAnswer> Answer<T> answer(
            Board board, RunPlace place, Duration limit, Path image, FarmTask task, Class<T> type) {
        FarmJob job = FarmJob.of(board.id(), place, limit, WholeFiles.read(image), task);
        FarmResult result = client.run(List.of(job)).get(0);
        keep(result);
        String where = "worker " + result.worker();
        if (result.answer() instanceof Failed failed && !failed.problems().isEmpty()) {
            throw new KilnException(failed.problems());
        }
        if (result.answer() instanceof GivenUp givenUp) {
            throw Failure.FARM.exception(
                    "the farm gave the job up: " + givenUp.tries() + " workers died while they ran it",
                    image.toString(),
                    "an image that an emulator survives",
                    "kiln:farm lists it");
        }
        if (!type.isInstance(result.answer())) {
            throw Failure.FARM.exception("the farm answered something else than was asked", where);
        }
        return new Answer<>(result.ranOn() + ", " + where, type.cast(result.answer()));
    }

    @Override
    public void close() {
        client.close();
    }

    /**
     * Flashes a board of a farm, whichever is free.
     *
     * @param board its description here; the worker has its own
     * @param limit time for the job
     * @param elf the image
     * @param use the farm
     * @param log gets the name of the chosen board
     */
    public record FarmFlashRunner(Board board, Duration limit, Path elf, FarmUse use, Log log) implements FlashRunner {
        @Override
        public String tool() {
            return "the farm " + use.address().url();
        }

        /** Any probe: the worker chooses. */
        @Override
        public List<Probe> probes() {
            return List.of(new Probe.Any());
        }

        /**
         * Has a worker flash a board with the ELF file.
         *
         * @throws io.kiln.base.KilnException with the worker's reason if it fails
         */
        @Override
        public FlashResult flash(Probe probe, FlashImage image, FlashProgress progress) {
            try (FarmRuns farm = FarmRuns.open(use, log)) {
                Answer<Flashed> answer = farm.flash(board, limit, elf);
                log.info("Flashed by " + answer.ranOn() + " with "
                        + answer.value().tool());
                return new FlashResult(
                        probe,
                        answer.value().isUnchanged(),
                        answer.value().bytes(),
                        Duration.ofMillis(Math.max(0, answer.value().milliseconds())),
                        Optional.empty());
            }
        }

        /** Does nothing: each job has a connection of its own. */
        @Override
        public void close() {}
    }

    /** A session with an image whose answers are known: those of the calls that a worker made, in their order. */
    public static final class AnsweredSession implements ModelSession {
        private final Ran ran;
        private final Iterator<Outputs> answers;

        AnsweredSession(Ran ran) {
            this.ran = ran;
            this.answers = ran.runs().iterator();
        }

        /**
         * The models that the image listed.
         *
         * @throws KilnException if the image failed before it listed its models
         */
        @Override
        public List<Model> models() {
            if (ran.models().isEmpty()) {
                throw failure();
            }
            return ran.models().stream()
                    .map(held -> new Model(held.name(), held.inputBytes(), held.outputBytes()))
                    .toList();
        }

        /** The worker's next answer. */
        @Override
        public List<Bytes> run(int index, Model model, List<Bytes> inputs) {
            if (!answers.hasNext()) {
                throw failure();
            }
            List<Bytes> outputs = answers.next().bytes();
            List<Integer> sizes = outputs.stream().map(Bytes::size).toList();
            if (!sizes.equals(model.outputBytes())) {
                throw Failure.FARM.exception(
                        "a worker of the farm sent outputs of " + sizes + " bytes",
                        model.name(),
                        model.outputBytes() + " bytes");
            }
            return outputs;
        }

        private KilnException failure() {
            return ran.failure().isEmpty()
                    ? Failure.FARM.exception("the farm left out runs of the image", "")
                    : new KilnException(ran.failure());
        }

        /** Does nothing: the worker has ended the program. */
        @Override
        public void exit() {}

        @Override
        public OptionalLong stackUsed() {
            return ran.stack();
        }

        @Override
        public void close() {}
    }
}
