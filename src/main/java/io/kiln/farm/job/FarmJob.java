// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.job;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.rpc.client.TimedModel;
import io.kiln.device.rpc.client.TimedModel.Graph;
import io.kiln.device.rpc.client.TimedModel.Input;
import io.kiln.farm.job.FarmAnswer.ResultFormat;
import io.kiln.farm.job.FarmJob.FarmTask;
import io.kiln.farm.job.FarmJob.FarmTask.Call;
import io.kiln.farm.job.FarmJob.FarmTask.Count;
import io.kiln.farm.job.FarmJob.FarmTask.Flash;
import io.kiln.farm.job.FarmJob.FarmTask.Listen;
import io.kiln.farm.job.FarmJob.FarmTask.Profile;
import io.kiln.farm.job.FarmJob.FarmTask.Run;
import io.kiln.farm.job.FarmJob.FarmTask.Time;
import io.kiln.farm.job.FarmJob.FarmTask.Trace;
import io.kiln.farm.job.WireReader.WireWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * A job: an image, and what to do with it. A worker runs nothing of it outside of an emulator or a board.
 *
 * @param id 32 hexadecimal digits, another for each job
 * @param board id of the board that the image is linked for; the worker has its own description of it
 * @param place where the image runs
 * @param limit time after which it is stopped, 1 s to an hour
 * @param image the ELF file
 * @param task what to do
 */
public record FarmJob(String id, String board, RunPlace place, Duration limit, Bytes image, FarmTask task) {
    private static final Pattern ID = Pattern.compile("[0-9a-f]{32}");
    private static final Pattern BOARD = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,79}");
    private static final Duration LONGEST = Duration.ofHours(1);

    /** @throws KilnException if an id or the limit is out of its range */
    public FarmJob {
        require(isId(id), "the id `" + id + "`", "32 hexadecimal digits");
        require(isBoard(board), "the board `" + board + "`", "a board's id");
        require(
                limit.compareTo(Duration.ofSeconds(1)) >= 0 && limit.compareTo(LONGEST) <= 0,
                "the limit " + limit.toSeconds() + " s",
                "1 s to " + LONGEST.toSeconds() + " s");
    }

    /** A job with an id of its own. A limit of more than an hour becomes an hour. */
    public static FarmJob of(String board, RunPlace place, Duration limit, Bytes image, FarmTask task) {
        return new FarmJob(newId(), board, place, limit.compareTo(LONGEST) > 0 ? LONGEST : limit, image, task);
    }

    /** An id that nothing else has. */
    public static String newId() {
        return UUID.randomUUID().toString().replace("-", "");
    }

    /** Whether a text is an id of a job or of whoever waits for one. */
    public static boolean isId(String text) {
        return ID.matcher(text).matches();
    }

    /** Whether a text may be a board's id. */
    public static boolean isBoard(String text) {
        return BOARD.matcher(text).matches();
    }

    private static void require(boolean holds, String what, String expected) {
        if (!holds) {
            throw Failure.FARM.exception("a job has " + what, "", expected);
        }
    }

    /** The task of a job: what a worker does with its image. */
    public sealed interface FarmTask {
        /** The kind, as messages and figures have it. */
        default String kind() {
            return getClass().getSimpleName().toLowerCase(Locale.ROOT);
        }

        /**
         * Run models of an image with the default application, on a board after flashing it.
         *
         * @param calls the runs in their order
         */
        record Run(List<Call> calls) implements FarmTask {
            public Run {
                calls = List.copyOf(calls);
            }
        }

        /**
         * A run of a model.
         *
         * @param model its number in the image, from 0
         * @param inputs the bytes of each input
         */
        record Call(int model, List<Bytes> inputs) {
            public Call {
                inputs = List.copyOf(inputs);
            }
        }

        /**
         * Count the instructions of functions that the image calls one after another.
         *
         * @param functions their names in the order of the calls
         * @param told name of the function that the image calls after each of them, with a verdict
         */
        record Count(List<String> functions, String told) implements FarmTask {
            public Count {
                functions = List.copyOf(functions);
            }
        }

        /**
         * Count the instructions of one run of a model, as a whole and by operator.
         *
         * @param model its name
         * @param operators names of its operator functions
         * @param inputs the bytes of each input
         * @param withBlocks whether to count executed blocks, too
         */
        record Profile(String model, List<String> operators, List<Bytes> inputs, boolean withBlocks)
                implements FarmTask {
            public Profile {
                operators = List.copyOf(operators);
                inputs = List.copyOf(inputs);
            }
        }

        /**
         * Count the executed blocks of functions that the image calls one after another.
         *
         * @param functions their names in the order of the calls
         * @param instructions of each of them
         * @param end name of a function that the image calls after them
         */
        record Trace(List<String> functions, List<Long> instructions, String end) implements FarmTask {
            public Trace {
                functions = List.copyOf(functions);
                instructions = List.copyOf(instructions);
            }
        }

        /**
         * Flash the image to a board, and read the numbered lines that its program prints.
         *
         * @param prefix word that the lines begin with
         * @param lines how many are awaited, at most {@link #MOST_LINES}
         */
        record Listen(String prefix, int lines) implements FarmTask {
            /** Most lines that may be wanted; workers keep them in memory until the last one has come. */
            static final int MOST_LINES = 1 << 16;
        }

        /**
         * Flash an image with the RPC server to a board, and measure runs of its models by the board's timer.
         *
         * @param models the models
         */
        record Time(List<TimedModel> models) implements FarmTask {
            public Time {
                models = List.copyOf(models);
            }
        }

        /** Write the image to the board, verify and start it. */
        record Flash() implements FarmTask {}
    }

    /**
     * The binary form of jobs: {@code KILNJOB1}, id, board, whether on a board, limit in milliseconds, image, kind of the task and its fields, in the order of the
     * records' components. The number of a kind stays what it is, as in {@link ResultFormat}.
     */
    public static final class JobFormat {
        private static final long FORM = 0x4b494c4e4a4f4231L;

        private static final int LAST_KIND = 6;

        private JobFormat() {}

        public static Bytes write(FarmJob job) {
            WireWriter out = new WireWriter()
                    .number(FORM)
                    .text(job.id())
                    .text(job.board())
                    .flag(job.place() == RunPlace.BOARD)
                    .number(job.limit().toMillis())
                    .bytes(job.image());
            if (job.task() instanceof Run run) {
                out.number(0).list(run.calls(), call -> out.number(call.model()).list(call.inputs(), out::bytes));
            } else if (job.task() instanceof Count count) {
                out.number(1).list(count.functions(), out::text).text(count.told());
            } else if (job.task() instanceof Profile profile) {
                out.number(2)
                        .text(profile.model())
                        .list(profile.operators(), out::text)
                        .list(profile.inputs(), out::bytes)
                        .flag(profile.withBlocks());
            } else if (job.task() instanceof Trace trace) {
                out.number(4)
                        .list(trace.functions(), out::text)
                        .list(trace.instructions(), count -> out.number(count))
                        .text(trace.end());
            } else if (job.task() instanceof Listen listen) {
                out.number(5).text(listen.prefix()).number(listen.lines());
            } else if (job.task() instanceof Time time) {
                out.number(LAST_KIND).list(time.models(), model -> timed(out, model));
            } else {
                out.number(3);
            }
            return out.content();
        }

        private static void timed(WireWriter out, TimedModel model) {
            out.text(model.name())
                    .list(model.inputs(), input -> out.text(input.name()).bytes(input.value()))
                    .list(
                            model.graph().stream().toList(),
                            graph -> out.bytes(graph.file()).bytes(graph.parameters()));
        }

        /**
         * Reads a job.
         *
         * @throws io.kiln.base.KilnException if the bytes are not a job, or one of its parts is out of its range
         */
        public static FarmJob read(Bytes content) {
            WireReader in = new WireReader(content);
            in.form(FORM, "a job");
            String id = in.text();
            String board = in.text();
            RunPlace place = in.flag() ? RunPlace.BOARD : RunPlace.EMULATOR;
            Duration limit = Duration.ofMillis(in.number(Integer.MAX_VALUE));
            Bytes image = in.bytes();
            FarmTask task = task(in);
            in.end();
            return new FarmJob(id, board, place, limit, image, task);
        }

        private static FarmTask task(WireReader in) {
            return switch (in.number(LAST_KIND)) {
                case 0 -> new Run(in.list(() -> new Call(in.number(Integer.MAX_VALUE), in.list(in::bytes))));
                case 1 -> new Count(in.list(in::text), in.text());
                case 2 -> new Profile(in.text(), in.list(in::text), in.list(in::bytes), in.flag());
                case 3 -> new Flash();
                case 4 -> new Trace(in.list(in::text), in.list(() -> in.number()), in.text());
                case 5 -> new Listen(in.text(), in.number(Listen.MOST_LINES));
                default -> new Time(in.list(() -> timed(in)));
            };
        }

        private static TimedModel timed(WireReader in) {
            return new TimedModel(
                    in.text(),
                    in.list(() -> new Input(in.text(), in.bytes())),
                    in.list(() -> new Graph(in.bytes(), in.bytes())).stream().findFirst());
        }
    }
}
