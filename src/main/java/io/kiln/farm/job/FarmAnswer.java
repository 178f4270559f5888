// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.job;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.Problem;
import io.kiln.cycles.BlockSink.ExecutedBlock;
import io.kiln.device.rpc.client.TimedModel.RunTimes;
import io.kiln.farm.job.WireReader.WireWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** The outcome of a job. */
public sealed interface FarmAnswer {
    /** Whether something went wrong while the job ran. */
    default boolean hasFailed() {
        return false;
    }

    /**
     * Outputs of models that ran.
     *
     * @param models what the image has
     * @param runs the outputs, one entry for each call that was made
     * @param failure why not all calls were made; empty if they were
     * @param stack the deepest use of the image's stack in bytes; empty if the image did not end, or does not measure it
     */
    record Ran(List<Held> models, List<Outputs> runs, List<Problem> failure, OptionalLong stack) implements FarmAnswer {
        public Ran {
            models = List.copyOf(models);
            runs = List.copyOf(runs);
            failure = List.copyOf(failure);
        }

        @Override
        public boolean hasFailed() {
            return !failure.isEmpty();
        }
    }

    /**
     * A model in an image.
     *
     * @param name its name
     * @param inputBytes size of each input
     * @param outputBytes size of each output
     */
    record Held(String name, List<Integer> inputBytes, List<Integer> outputBytes) {
        public Held {
            inputBytes = List.copyOf(inputBytes);
            outputBytes = List.copyOf(outputBytes);
        }
    }

    /** The bytes of each output of a run. */
    record Outputs(List<Bytes> bytes) {
        public Outputs {
            bytes = List.copyOf(bytes);
        }
    }

    /**
     * The counts of functions.
     *
     * @param calls in the order of the functions
     * @param failure what happened in the first function that is not counted; empty if all are
     */
    record Counted(List<Call> calls, Optional<String> failure) implements FarmAnswer {
        public Counted {
            calls = List.copyOf(calls);
        }

        @Override
        public boolean hasFailed() {
            return failure.isPresent();
        }
    }

    /**
     * A counted call.
     *
     * @param instructions from the function's first instruction to its return
     * @param verdict what the program said of it
     */
    record Call(long instructions, long verdict) {}

    /**
     * The counts of a run of a model.
     *
     * @param total instructions of the whole run
     * @param operators instructions of each operator, in the order asked for
     * @param outputs the outputs of the run
     * @param blocks executed blocks; empty if they were not asked for
     * @param stack the deepest use of the image's stack in bytes; empty if the image does not measure it
     */
    record Profiled(
            long total, List<Long> operators, List<Bytes> outputs, List<ExecutedBlock> blocks, OptionalLong stack)
            implements FarmAnswer {
        public Profiled {
            operators = List.copyOf(operators);
            outputs = List.copyOf(outputs);
            blocks = List.copyOf(blocks);
        }
    }

    /**
     * The counts of blocks.
     *
     * @param blocks those that were executed
     */
    record Traced(List<ExecutedBlock> blocks) implements FarmAnswer {
        public Traced {
            blocks = List.copyOf(blocks);
        }
    }

    /**
     * Lines that a program printed.
     *
     * @param lines in order
     * @param isTimeOver whether the time was over before all of them came
     */
    record Heard(List<String> lines, boolean isTimeOver) implements FarmAnswer {
        public Heard {
            lines = List.copyOf(lines);
        }
    }

    /**
     * The times of models.
     *
     * @param models in the order of the task
     */
    record Timed(List<RunTimes> models) implements FarmAnswer {
        public Timed {
            models = List.copyOf(models);
        }
    }

    /**
     * A board that holds and runs the image.
     *
     * @param tool what wrote it, with its version
     * @param probe the probe
     * @param bytes size of what it holds
     * @param isUnchanged whether it held the image before
     * @param milliseconds how long it took
     */
    record Flashed(String tool, String probe, long bytes, boolean isUnchanged, long milliseconds)
            implements FarmAnswer {}

    /**
     * The job was tried and failed.
     *
     * @param problems why, at least one
     */
    record Failed(List<Problem> problems) implements FarmAnswer {
        public Failed {
            problems = List.copyOf(problems);
        }

        @Override
        public boolean hasFailed() {
            return true;
        }
    }

    /**
     * The job is not tried again, because the workers that tried it died.
     *
     * @param tries how many did
     */
    record GivenUp(int tries) implements FarmAnswer {}

    /**
     * The result of a job.
     *
     * @param job its id
     * @param digest of the job that was run, so that an answer to another one is noticed; empty for a job that was not
     * @param worker name of the worker
     * @param ranOn what ran the image, as reports name it
     * @param answer its outcome
     * @param console the end of what a board printed, as it printed it; empty for emulators
     */
    record FarmResult(String job, String digest, String worker, String ranOn, FarmAnswer answer, Bytes console) {
        /** Most bytes of a console that are kept. */
        public static final int MOST_CONSOLE = 64 << 10;

        public FarmResult {
            if (console.size() > MOST_CONSOLE) {
                console = Bytes.wrap(
                        Arrays.copyOfRange(console.toArray(), console.size() - MOST_CONSOLE, console.size()));
            }
        }

        /** A result without a console. */
        public FarmResult(String job, String digest, String worker, String ranOn, FarmAnswer answer) {
            this(job, digest, worker, ranOn, answer, Bytes.wrap(new byte[0]));
        }
    }

    /**
     * The binary form of results: {@code KILNRES6}, job, its digest, worker, what ran it, its console, kind of the answer and its fields. The number of a kind stays what it
     * is, and a new kind gets the next one; if a number or a field has to change, the form gets the next version.
     */
    final class ResultFormat {
        private static final long FORM = 0x4b494c4e52455336L;
        private static final int GIVEN_UP = 8;
        private static final int LAST_KIND = GIVEN_UP;

        /** Characters of a problem's part. */
        private static final int LONGEST = 10_000;

        private ResultFormat() {}

        public static Bytes write(FarmResult result) {
            WireWriter out = new WireWriter()
                    .number(FORM)
                    .text(result.job())
                    .text(result.digest())
                    .text(result.worker())
                    .text(result.ranOn())
                    .bytes(result.console());
            FarmAnswer answer = result.answer();
            if (answer instanceof Ran ran) {
                out.number(0).list(ran.models(), model -> held(out, model));
                out.list(ran.runs(), outputs -> out.list(outputs.bytes(), out::bytes));
                problems(out, ran.failure());
                stack(out, ran.stack());
            } else if (answer instanceof Counted counted) {
                out.number(1)
                        .list(
                                counted.calls(),
                                call -> out.number(call.instructions()).number(call.verdict()));
                out.list(counted.failure().stream().toList(), out::text);
            } else if (answer instanceof Profiled profiled) {
                out.number(2).number(profiled.total()).list(profiled.operators(), each -> out.number(each));
                out.list(profiled.outputs(), out::bytes).list(profiled.blocks(), block -> block(out, block));
                stack(out, profiled.stack());
            } else if (answer instanceof Flashed flashed) {
                out.number(3).text(flashed.tool()).text(flashed.probe()).number(flashed.bytes());
                out.flag(flashed.isUnchanged()).number(flashed.milliseconds());
            } else if (answer instanceof Failed failed) {
                problems(out.number(4), failed.problems());
            } else if (answer instanceof Traced traced) {
                out.number(5).list(traced.blocks(), block -> block(out, block));
            } else if (answer instanceof Heard heard) {
                out.number(6).list(heard.lines(), out::text).flag(heard.isTimeOver());
            } else if (answer instanceof Timed timed) {
                out.number(7)
                        .list(timed.models(), model -> out.list(model.seconds(), each -> out.list(each, out::real)));
            } else if (answer instanceof GivenUp givenUp) {
                out.number(GIVEN_UP).number(givenUp.tries());
            }
            return out.content();
        }

        private static void held(WireWriter out, Held model) {
            out.text(model.name())
                    .list(model.inputBytes(), size -> out.number(size))
                    .list(model.outputBytes(), size -> out.number(size));
        }

        private static void stack(WireWriter out, OptionalLong used) {
            out.number(used.orElse(0));
        }

        private static void block(WireWriter out, ExecutedBlock block) {
            out.number(block.owner()).number(block.start()).number(block.instructions());
            out.number(block.count()).number(block.taken());
        }

        private static void problems(WireWriter out, List<Problem> problems) {
            out.list(
                    problems,
                    problem -> out.text(problem.family().name())
                            .text(cut(problem.what()))
                            .text(cut(problem.where()))
                            .text(cut(problem.expected()))
                            .text(cut(problem.next())));
        }

        /** A tool may say more than a text of a message has room for. */
        private static String cut(String text) {
            return text.length() <= LONGEST ? text : text.substring(0, text.offsetByCodePoints(0, LONGEST / 2)) + "…";
        }

        /**
         * Reads a result.
         *
         * @throws io.kiln.base.KilnException if the bytes are not a result, or one of another version
         */
        public static FarmResult read(Bytes content) {
            WireReader in = new WireReader(content);
            in.form(FORM, "a result");
            String job = in.text();
            String digest = in.text();
            String worker = in.text();
            String ranOn = in.text();
            Bytes console = in.bytes();
            FarmAnswer answer = answer(in);
            in.end();
            return new FarmResult(job, digest, worker, ranOn, answer, console);
        }

        private static FarmAnswer answer(WireReader in) {
            return switch (in.number(LAST_KIND)) {
                case 0 ->
                    new Ran(
                            in.list(() -> new Held(in.text(), in.list(() -> size(in)), in.list(() -> size(in)))),
                            in.list(() -> new Outputs(in.list(in::bytes))),
                            problems(in),
                            stack(in));
                case 1 ->
                    new Counted(
                            in.list(() -> new Call(in.number(), in.number())),
                            Optional.of(in.list(in::text))
                                    .filter(texts -> !texts.isEmpty())
                                    .map(texts -> texts.get(0)));
                case 2 ->
                    new Profiled(
                            in.number(),
                            in.list(() -> in.number()),
                            in.list(in::bytes),
                            in.list(() -> block(in)),
                            stack(in));
                case 3 -> new Flashed(in.text(), in.text(), in.number(), in.flag(), in.number());
                case 4 -> new Failed(problems(in));
                case 5 -> new Traced(in.list(() -> block(in)));
                case 6 -> new Heard(in.list(in::text), in.flag());
                case 7 -> new Timed(in.list(() -> new RunTimes(in.list(() -> in.list(in::real)))));
                default -> new GivenUp(size(in));
            };
        }

        private static int size(WireReader in) {
            return in.number(Integer.MAX_VALUE);
        }

        /** The use of a stack; empty if it is not known, which is written as 0. */
        private static OptionalLong stack(WireReader in) {
            int used = size(in);
            return used == 0 ? OptionalLong.empty() : OptionalLong.of(used);
        }

        private static ExecutedBlock block(WireReader in) {
            return new ExecutedBlock(size(in), in.number(), size(in), in.number(), in.number());
        }

        private static List<Problem> problems(WireReader in) {
            return in.list(() -> new Problem(family(in), in.text(), in.text(), in.text(), in.text()));
        }

        private static Failure family(WireReader in) {
            String name = in.text();
            return Stream.of(Failure.values())
                    .filter(family -> family.name().equals(name))
                    .findFirst()
                    .orElseThrow(() -> WireReader.malformed("it has the family " + name));
        }
    }
}
