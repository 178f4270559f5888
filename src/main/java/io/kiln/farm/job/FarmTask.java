// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.job;

import io.kiln.base.Bytes;
import io.kiln.device.rpc.client.TimedModel;
import java.util.List;
import java.util.Locale;

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
    record Profile(String model, List<String> operators, List<Bytes> inputs, boolean withBlocks) implements FarmTask {
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
