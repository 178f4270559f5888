// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.job;

import io.kiln.base.Bytes;
import io.kiln.base.Problem;
import io.kiln.cycles.BlockSink.ExecutedBlock;
import io.kiln.device.rpc.client.TimedModel.RunTimes;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

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
}
