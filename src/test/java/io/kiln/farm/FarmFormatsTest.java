// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.cycles.BlockSink.ExecutedBlock;
import io.kiln.device.rpc.client.TimedModel;
import io.kiln.device.rpc.client.TimedModel.Graph;
import io.kiln.device.rpc.client.TimedModel.Input;
import io.kiln.device.rpc.client.TimedModel.RunTimes;
import io.kiln.farm.job.FarmAnswer;
import io.kiln.farm.job.FarmAnswer.FarmResult;
import io.kiln.farm.job.FarmAnswer.ResultFormat;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.FarmJob.FarmTask;
import io.kiln.farm.job.FarmJob.JobFormat;
import io.kiln.farm.job.RunPlace;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Jobs and results survive writing and reading; damaged ones are refused, whatever is wrong with them. */
final class FarmFormatsTest {
    private static final int MUTATIONS = 3000;

    /** Behind the form, an id of 32 letters, a board of ten, place, limit and an image of five bytes. */
    private static final int KIND_OF_JOB = 95;

    /** Behind the form and three texts of one letter. */
    private static final int KIND_OF_RESULT = 52;

    private static final List<Bytes> INPUTS = List.of(Bytes.ofText("one"), Bytes.ofText(""), Bytes.ofText("three"));

    private static final List<FarmTask> TASKS = List.of(
            new FarmTask.Run(List.of(new FarmTask.Call(0, INPUTS), new FarmTask.Call(3, List.of()))),
            new FarmTask.Count(List.of("f", "g"), "told"),
            new FarmTask.Profile("model", List.of("a", "b"), INPUTS, true),
            new FarmTask.Trace(List.of("f"), List.of(5L), "end"),
            new FarmTask.Listen("said", 12),
            new FarmTask.Time(List.of(
                    new TimedModel("whole", List.of(new Input("x", INPUTS.get(0))), Optional.empty()),
                    new TimedModel("graph", List.of(), Optional.of(new Graph(INPUTS.get(2), INPUTS.get(1)))))),
            new FarmTask.Flash());

    private static final List<FarmAnswer> ANSWERS = List.of(
            new FarmAnswer.Ran(
                    List.of(new FarmAnswer.Held("m", List.of(1, 2), List.of(3))),
                    List.of(new FarmAnswer.Outputs(INPUTS)),
                    List.of(Failure.FARM.problem("what", "where", "expected", "next")),
                    OptionalLong.of(248)),
            new FarmAnswer.Counted(List.of(new FarmAnswer.Call(7, 0)), Optional.of("it stopped")),
            new FarmAnswer.Counted(List.of(), Optional.empty()),
            new FarmAnswer.Profiled(
                    9, List.of(1L, 2L), INPUTS, List.of(new ExecutedBlock(1, 2, 3, 4, 5)), OptionalLong.empty()),
            new FarmAnswer.Flashed("Open On-Chip Debugger", "066D", 77, true, 1234),
            new FarmAnswer.Failed(List.of(Failure.FARM.problem("what", "", "", ""))),
            new FarmAnswer.Traced(List.of(new ExecutedBlock(5, 4, 3, 2, 1))),
            new FarmAnswer.Heard(List.of("said 0 one", "said 1 two"), true),
            new FarmAnswer.Timed(List.of(new RunTimes(List.of(List.of(1.5e-6, 0.0), List.of())))),
            new FarmAnswer.GivenUp(2));

    private static FarmJob job(FarmTask task) {
        return FarmJob.of("mps2-an386", RunPlace.BOARD, Duration.ofSeconds(7), Bytes.ofText("image"), task);
    }

    @Test
    void jobs_survive() {
        for (FarmTask task : TASKS) {
            FarmJob job = job(task);
            assertThat(JobFormat.read(JobFormat.write(job))).isEqualTo(job);
        }
    }

    @Test
    void results_survive() {
        for (FarmAnswer answer : ANSWERS) {
            FarmResult result =
                    new FarmResult(FarmJob.newId(), "digest", "worker", "qemu", answer, Bytes.ofText("\u001b[31mä\n"));
            assertThat(ResultFormat.read(ResultFormat.write(result))).isEqualTo(result);
        }
    }

    /** What tools say has no bound, and must not make an answer one that cannot be read. */
    @Test
    void long_texts_are_cut() {
        FarmAnswer answer = new FarmAnswer.Failed(List.of(Failure.FLASH.problem("ä".repeat(1 << 16), "")));
        Bytes console = Bytes.ofText("ä".repeat(1 << 16));
        FarmResult read = ResultFormat.read(ResultFormat.write(new FarmResult("j", "d", "w", "q", answer, console)));
        assertThat(read.console().size()).isEqualTo(FarmResult.MOST_CONSOLE);
        assertThat(((FarmAnswer.Failed) read.answer()).problems().get(0).what())
                .startsWith("ää")
                .endsWith("ä…");
    }

    /** Brokers keep results while workers and builds are updated: a kind is never read as another one. */
    @Test
    void kinds_keep_their_numbers() {
        assertThat(TASKS.stream().map(task -> number(JobFormat.write(job(task)), KIND_OF_JOB)))
                .containsExactly(0L, 1L, 2L, 4L, 5L, 6L, 3L);
        assertThat(ANSWERS.stream()
                        .map(answer ->
                                number(ResultFormat.write(new FarmResult("j", "d", "w", "q", answer)), KIND_OF_RESULT)))
                .containsExactly(0L, 1L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L);
    }

    private static long number(Bytes message, int offset) {
        return message.buffer().order(ByteOrder.BIG_ENDIAN).getLong(offset);
    }

    @Test
    void a_result_of_another_version_is_named() {
        byte[] old = ResultFormat.write(new FarmResult("j", "d", "w", "q", ANSWERS.get(0)))
                .toArray();
        old[7] = '1';
        assertThatThrownBy(() -> ResultFormat.read(Bytes.wrap(old)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("it has the form KILNRES1 in place of KILNRES6")
                .hasMessageContaining("Use one version of Kiln");
    }

    /** A length of gigabytes allocates nothing. */
    @Test
    void damaged_messages_are_refused_or_are_other_messages() {
        Random random = new Random(1);
        int refused = 0;
        for (int i = 0; i < MUTATIONS; i++) {
            refused += isRefused(mutated(random, JobFormat.write(job(TASKS.get(i % TASKS.size())))), JobFormat::read);
            FarmResult result = new FarmResult("j", "d", "w", "q", ANSWERS.get(i % ANSWERS.size()));
            refused += isRefused(mutated(random, ResultFormat.write(result)), ResultFormat::read);
        }
        assertThat(refused).isGreaterThan(MUTATIONS);
    }

    /** A worker keeps all lines in memory. */
    @Test
    void lines_without_end_are_not_awaited() {
        assertThat(isRefused(JobFormat.write(job(new FarmTask.Listen("x", 1 << 16))), JobFormat::read))
                .isZero();
        assertThat(isRefused(JobFormat.write(job(new FarmTask.Listen("x", (1 << 16) + 1))), JobFormat::read))
                .isOne();
    }

    private static Bytes mutated(Random random, Bytes whole) {
        byte[] bytes = whole.toArray();
        for (int i = random.nextInt(3); i >= 0; i--) {
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
        }
        return Bytes.wrap(random.nextInt(4) == 0 ? Arrays.copyOf(bytes, random.nextInt(bytes.length)) : bytes);
    }

    private static int isRefused(Bytes bytes, Function<Bytes, ?> read) {
        try {
            assertThat(read.apply(bytes)).isNotNull();
            return 0;
        } catch (KilnException e) {
            assertThat(e.getMessage()).isNotEmpty();
            return 1;
        }
    }

    @Test
    void ids_that_could_change_a_selector_are_refused() {
        assertThatThrownBy(() -> FarmJob.of(
                        "x' OR 'a' = 'a",
                        RunPlace.EMULATOR,
                        Duration.ofSeconds(1),
                        Bytes.ofText(""),
                        new FarmTask.Flash()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("a board's id");
    }
}
