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
import io.kiln.device.emulator.CallsCounter;
import io.kiln.device.emulator.FunctionCounter.Calls;
import io.kiln.device.emulator.FunctionCounter.Counted;
import io.kiln.device.emulator.RunCounter;
import io.kiln.device.emulator.RunCounter.InstructionCounts;
import io.kiln.device.rpc.client.TimedModel;
import io.kiln.farm.client.FarmClient;
import io.kiln.farm.job.FarmAnswer;
import io.kiln.farm.job.FarmAnswer.Failed;
import io.kiln.farm.job.FarmAnswer.GivenUp;
import io.kiln.farm.job.FarmAnswer.Profiled;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.FarmResult;
import io.kiln.farm.job.FarmTask;
import io.kiln.farm.job.FarmTask.Call;
import io.kiln.farm.job.FarmTask.Count;
import io.kiln.farm.job.FarmTask.Flash;
import io.kiln.farm.job.FarmTask.Listen;
import io.kiln.farm.job.FarmTask.Profile;
import io.kiln.farm.job.FarmTask.Run;
import io.kiln.farm.job.FarmTask.Time;
import io.kiln.farm.job.FarmTask.Trace;
import io.kiln.farm.job.RunPlace;
import io.kiln.flow.spec.FarmUse;
import io.kiln.toolchain.board.Board;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
        return new FarmCalls(board, limit);
    }

    private final class FarmCalls implements CallsCounter {
        private final Board board;
        private final Duration limit;

        FarmCalls(Board board, Duration limit) {
            this.board = board;
            this.limit = limit;
        }

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
    }

    /** Counts whole runs of models, on a worker's emulator of a board. */
    public RunCounter runs(Board board, Duration limit) {
        return new FarmCounter(board, limit);
    }

    private final class FarmCounter implements RunCounter {
        private final Board board;
        private final Duration limit;

        FarmCounter(Board board, Duration limit) {
            this.board = board;
            this.limit = limit;
        }

        @Override
        public InstructionCounts count(Path image, String model, List<String> operators, List<Bytes> inputs) {
            Profiled profiled = profiled(image, new Profile(model, operators, inputs, false));
            Map<String, Long> counts = new LinkedHashMap<>();
            for (int i = 0; i < Math.min(operators.size(), profiled.operators().size()); i++) {
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
            return profiled(image, new Profile(model, operators, inputs, true)).blocks();
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
}
